import type { IndexedNode, PublicVersion } from 'registry-client';
import { dateOf, element, foreign, growingList, pill, sizeOf } from './elements.ts';

const step = 10;

/** All versions of a node. Each leads to its own host nodes and digest. */
export function versionSection(node: IndexedNode, chosen: PublicVersion | undefined): HTMLElement {
  const list = element('ul', { className: 'plain versions' });
  const more = element('button', { type: 'button' });
  const render = (version: PublicVersion) =>
    renderVersion(node, version, version.version === chosen?.version);
  growingList(list, more, { items: node.versions, step, render });
  return element('section', { ariaLabel: 'Versions' }, element('h2', {}, 'Versions'), list, more);
}

function renderVersion(node: IndexedNode, version: PublicVersion, isChosen: boolean): HTMLElement {
  const label = String(version.version);
  const path = [String(node.id), label].map(encodeURIComponent).join('/');
  const link = element('a', { href: `#/nodes/${path}` }, foreign(label));
  if (isChosen) link.ariaCurrent = 'true';
  return element(
    'li',
    {},
    link,
    ' ',
    label === node.latest_version?.version && pill('latest', 'good'),
    version.deprecated && pill('deprecated', 'warn'),
    version.status === 'NodeVersionStatusFlagged' && pill('under review', 'warn'),
    element(
      'span',
      { className: 'quiet' },
      ' ',
      dateOf(version.createdAt),
      version.size_bytes !== undefined && `, ${sizeOf(version.size_bytes)}`,
      version.provenance !== undefined && ', published by a CI job',
    ),
  );
}

/** Which CI job published a version, by the token that its issuer signed. */
export function provenanceOf({ provenance }: PublicVersion): HTMLElement | string {
  if (!provenance) return 'a person, with a personal access token';
  const { issuer, repository, commit, ref, workflow, run } = provenance;
  return element(
    'span',
    {},
    element('b', {}, foreign(repository)),
    ', ',
    foreign(workflow),
    ', run ',
    foreign(run),
    ', commit ',
    element('code', { title: commit }, foreign(commit.slice(0, 12))),
    ' of ',
    foreign(ref),
    ', verified by ',
    foreign(issuer),
  );
}
