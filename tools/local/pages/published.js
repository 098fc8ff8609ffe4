import { element, facts, pill, show, timeElement } from './elements.js';
import { hostNodesRead } from './host-nodes-read.js';

const tones = { Active: 'good', Pending: 'warn', Flagged: 'warn' };

/** The newest versions with their status, their origin and their host nodes. */
export function showPublished({ records }) {
  show('published', records.published, ({ id }) => id, renderVersion);
}

function renderVersion(version) {
  const status = version.status.replace('NodeVersionStatus', '');
  const heading = element(
    'h3',
    {},
    `${version.node_id} ${version.version} `,
    pill(status, tones[status] ?? 'bad'),
  );
  return element(
    'li',
    {},
    heading,
    version.status_reason && element('p', { className: 'reason' }, version.status_reason),
    facts({
      Publisher: version.publisher_id,
      Registered: timeElement(version.createdAt),
      'Published by': provenanceOf(version),
      Archive: archiveOf(version),
      'Host nodes': hostNodesOf(version),
    }),
  );
}

function provenanceOf({ provenance }) {
  if (!provenance) return 'a person, with a personal access token';
  const { repository, workflow, run, commit, ref } = provenance;
  return `${repository}, ${workflow}, run ${run}, commit ${commit.slice(0, 12)} of ${ref}`;
}

function archiveOf({ node_id, version, downloadUrl, size_bytes: bytes, sha256 }) {
  if (!downloadUrl) return undefined;
  const link = element('a', { href: downloadUrl, ariaLabel: `Download ${node_id} ${version}` }, 'Download');
  const digest = element('code', { title: sha256 }, `sha256 ${sha256.slice(0, 12)}…`);
  return element('span', {}, link, ` ${bytes.toLocaleString('en-US')} bytes, `, digest);
}

function hostNodesOf(version) {
  const read = hostNodesRead(version);
  const { host_nodes: nodes } = version;
  if (nodes.length === 0) return read;
  const items = nodes.map((node) => element('li', {}, ...lineOf(node)));
  return element(
    'details',
    {},
    element('summary', {}, read),
    element('ul', { className: 'plain' }, ...items),
  );
}

function lineOf({ host_node_name: name, category, function: entry, return_types: types, policy, is_edited }) {
  const rest = [
    category,
    entry && `${entry}()`,
    types && `returns ${types}`,
    policy && policy !== 'HostNodePolicyActive' && policy.replace('HostNodePolicy', ''),
    is_edited && 'edited',
  ].filter(Boolean);
  return [element('b', {}, name), rest.length > 0 ? ` ${rest.join(', ')}` : ''];
}
