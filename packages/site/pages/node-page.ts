import type { IndexedNode, PublicIndex, PublicVersion } from 'registry-client';
import {
  at,
  copyable,
  dateOf,
  element,
  facts,
  foreign,
  pill,
  sizeOf,
  webAddress,
  webLink,
} from './elements.ts';
import { failure } from './failure.ts';
import { hostNodeSection } from './host-node-section.ts';
import { icon } from './icon.ts';
import { installLine } from './install-line.ts';
import { readmeSection } from './readme-section.ts';
import { tagList } from './search-page.ts';
import { provenanceOf, versionSection } from './versions.ts';

interface NodePage {
  show: (id: string, label: string | undefined) => Promise<void>;
}

export function createNodePage(index: PublicIndex): NodePage {
  const page = at('node-page');
  let latest = 0;

  async function show(id: string, label: string | undefined): Promise<void> {
    latest += 1;
    const turn = latest;
    document.title = `${id} · Node registry`;
    page.replaceChildren(heading(id), element('p', { role: 'status' }, 'Loading…'));
    try {
      const node = await index.node(id);
      if (turn !== latest) return;
      if (!node) return page.replaceChildren(heading(id), unknownNode());
      document.title = `${node.name || node.id || id} · Node registry`;
      page.replaceChildren(...renderNode(index, node, label));
    } catch (error) {
      if (turn === latest)
        page.replaceChildren(
          heading(id),
          failure(error, () => show(id, label)),
        );
    }
  }
  return { show };
}

function heading(name: string): HTMLElement {
  return element('h1', {}, foreign(name));
}

function unknownNode(): HTMLElement {
  const link = element('a', { href: '#/' }, 'Search for another one');
  return element('p', { className: 'notice' }, 'This registry has no such node. ', link, '.');
}

function renderNode(index: PublicIndex, node: IndexedNode, label: string | undefined): HTMLElement[] {
  const version =
    label === undefined ? node.latest_version : node.versions.find((it) => it.version === label);
  const isMissing = label !== undefined && !version;
  return [
    introduction(node),
    ...(isMissing ? [notice('warn', `This node has no version ${label}.`)] : []),
    ...(version ? versionParts(index, node, version) : []),
    ...(node.versions.length > 0 ? [versionSection(node, version)] : []),
    ...(node.versions.length > 0 ? [readmeSection(index, node)] : []),
  ];
}

function versionParts(index: PublicIndex, node: IndexedNode, version: PublicVersion): HTMLElement[] {
  const isOffered = node.status === 'NodeStatusActive';
  return [
    ...(version.deprecated
      ? [notice('warn', `Version ${version.version} is deprecated. Choose another one if you can.`)]
      : []),
    ...(version.status === 'NodeVersionStatusFlagged'
      ? [notice('warn', version.status_reason || 'This version is under review.')]
      : []),
    ...(isOffered ? [installSection(node, version)] : []),
    aboutVersion(version),
    hostNodeSection(index, String(node.id), String(version.version)),
  ];
}

function introduction(node: IndexedNode): HTMLElement {
  const { id = '', icon: picture, publisher, description, tags = [] } = node;
  const name = node.name || id;
  const owner = publisher?.name || publisher?.id;
  return element(
    'section',
    { className: 'introduction', ariaLabel: 'About the node' },
    element(
      'div',
      { className: 'name' },
      icon(picture, name),
      element(
        'div',
        {},
        heading(name),
        element(
          'p',
          { className: 'quiet' },
          element('code', {}, id),
          owner !== undefined && ' by ',
          owner !== undefined &&
            element('a', { href: `#/?${new URLSearchParams({ q: publisher?.id ?? '' })}` }, foreign(owner)),
        ),
      ),
    ),
    statusNotice(node),
    description ? element('p', { className: 'description' }, foreign(description)) : undefined,
    tags.length > 0 && tagList(tags),
    facts({
      Repository: node.repository ? webLink(node.repository) : undefined,
      Website: publisher?.website ? webLink(publisher.website) : undefined,
      Support: publisher?.support ? webLink(publisher.support) : undefined,
      Author: node.author ? foreign(node.author) : undefined,
      License: node.license ? foreign(node.license) : undefined,
      Category: node.category ? foreign(node.category) : undefined,
    }),
  );
}

function statusNotice({ status, status_detail, versions }: IndexedNode): HTMLElement | undefined {
  const because = status_detail ? ` ${status_detail}` : '';
  if (status === 'NodeStatusBanned')
    return notice('bad', `This node is banned. Do not install it.${because}`);
  if (status === 'NodeStatusDeleted')
    return notice(
      'warn',
      `Its owner has withdrawn this node. Its versions stay where they are in use.${because}`,
    );
  return versions.length === 0 ? notice('plain', 'No version of this node can be installed.') : undefined;
}

function notice(tone: 'plain' | 'warn' | 'bad', sentence: string): HTMLElement {
  return element('p', { className: `notice ${tone}` }, foreign(sentence));
}

function installSection(node: IndexedNode, version: PublicVersion): HTMLElement {
  const line = installLine(String(node.id), version);
  const address = webAddress(version.downloadUrl);
  return element(
    'section',
    { ariaLabel: 'Install' },
    element('h2', {}, 'Install ', foreign(String(version.version))),
    line === undefined
      ? element('p', { className: 'quiet' }, 'This version has no archive.')
      : element(
          'p',
          { className: 'quiet' },
          'Run it in the folder where the host looks for nodes. It checks that the bytes are those that were published.',
        ),
    line !== undefined && copyable(line),
    address !== undefined &&
      element(
        'p',
        {},
        element('a', { href: address, rel: 'noopener noreferrer' }, 'Download the archive'),
        version.size_bytes !== undefined && ` (${sizeOf(version.size_bytes)})`,
      ),
  );
}

function aboutVersion(version: PublicVersion): HTMLElement {
  const { dependencies = [], changelog, supported_os = [], supported_accelerators = [] } = version;
  const lines = dependencies.map((name) => element('li', {}, element('code', {}, foreign(name))));
  return element(
    'section',
    { ariaLabel: 'About the version' },
    element(
      'h2',
      {},
      'Version ',
      foreign(String(version.version)),
      version.deprecated && pill('deprecated', 'warn'),
    ),
    facts({
      Published: dateOf(version.createdAt),
      'Published by': provenanceOf(version),
      'What changed': changelog ? foreign(changelog) : undefined,
      SHA256: version.sha256 ? element('code', {}, version.sha256) : undefined,
      'Host version': version.supported_host_version ? foreign(version.supported_host_version) : undefined,
      Systems: supported_os.length > 0 ? foreign(supported_os.join(', ')) : undefined,
      Accelerators:
        supported_accelerators.length > 0 ? foreign(supported_accelerators.join(', ')) : undefined,
      Needs:
        lines.length > 0 ? element('ul', { className: 'plain dependencies' }, ...lines) : 'no other packages',
    }),
  );
}
