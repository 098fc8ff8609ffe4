import { command, type CommandResult, UsageError } from '../command.ts';
import { aligning } from '../alignment.ts';
import { transferNode } from '../../../lib/registry/moves.ts';
import { fieldsOf, shortStatus, tableOf } from '../view.ts';
import {
  bySize,
  describeNode,
  describePublisher,
  listAllNodes,
  listNodes,
  showNode,
  sized,
} from '../listing.ts';
import { publisherView } from '../../../lib/registry/publishers.ts';
import { change, existingNode } from '../../../lib/registry/changes.ts';
import {
  type NodeRecord,
  type Operator,
  type PublisherRecord,
  pickFields,
} from '../../../lib/registry/records.ts';
import { Node } from '@node-registry/registry-rules/schemas/node';
import { present } from '../../../lib/store/items.ts';
import { nodeKey } from '../../../lib/store/keys.ts';
import { updating } from '../../../lib/store/write.ts';
import { parseAsWritten } from '../../../lib/json.ts';
import { setNodeBan } from '../../../lib/registry/bans.ts';
import { newContext } from '../registry/administration.ts';

const statuses = ['active', 'banned', 'withdrawn'];

export const list = command({
  parameters: [],
  summary: 'List the nodes, of a publisher or of all',
  readsOnly: true,
  notes: 'Without --publisher it reads the whole table, the oldest nodes first.',
  options: {
    publisher: { value: 'PUBLISHER', about: 'The publisher of the nodes' },
    status: { value: 'STATUS', about: 'Only those that are active, banned or withdrawn' },
    ...bySize,
  },
  examples: ['node list --publisher acme', 'node list --status banned'],
  async run(_, { publisher, status, 'by-size': isBySize }) {
    if (status !== undefined && !statuses.includes(status))
      throw new UsageError(`The status must be one of ${statuses.join(', ')}.`);
    const found = publisher === undefined ? await listAllNodes() : await listNodes(publisher);
    const chosen = found.filter((node) => [undefined, shortStatus(node.status)].includes(status));
    const nodes = await sized(chosen, 'node_id', isBySize);
    const data = nodes.map((node) => ({ ...nodeData({ node }), archive_bytes: node.archive_bytes }));
    const columns = ['id', 'publisher_id', 'name', 'status', 'latest_version.version', 'created_at'];
    const none = publisher === undefined ? 'No nodes.' : `"${publisher}" has no nodes.`;
    return { data, text: tableOf(data, none, [...columns, ...(isBySize ? ['archive_bytes'] : [])]) };
  },
});

export const show = command({
  parameters: ['node'],
  summary: 'Show a node',
  readsOnly: true,
  examples: ['node show demo-node', 'node show demo-node --json'],
  async run({ node: nodeId }) {
    const { node, publisher } = await showNode(nodeId);
    const data = nodeData({ node, publisher });
    const { publisher: _, ...about } = data;
    const latest_version = node.latest_version?.version ?? 'none';
    return { data, text: fieldsOf({ ...about, latest_version }) };
  },
});

export const transfer = command({
  parameters: ['node'],
  summary: 'Give a node to another publisher',
  notes:
    'Tokens and trusts stay with their publisher: a version that waits for its archive is published only after the new owner\npublishes it again.',
  options: { to: { value: 'PUBLISHER', about: 'The new owner', required: true } },
  tellsOwners: true,
  examples: ['node transfer demo-node --to acme'],
  impact: async ({ node }, { to }) => `gives ${await describeNode(node)} to ${await describePublisher(to)}`,
  async run({ node: nodeId }, { to }, { actor }) {
    const { changed } = await transferNode(newContext(), actor, nodeId, to);
    const text = changed
      ? `The node "${nodeId}" belongs to "${to}" now.`
      : `The node "${nodeId}" belonged to "${to}" already: nothing changed.`;
    return aligned(nodeId, text);
  },
});

export const limit = command({
  parameters: ['node'],
  summary: 'Let a node have more versions than the standard 2,000',
  notes:
    'Its public file has all of them: 10,000 versions make it 5 MB, which each publish reads and writes.',
  options: { versions: { value: 'COUNT', about: 'The most versions that it may have', required: true } },
  tellsOwners: true,
  examples: ['node limit demo-node --versions 4000'],
  async run({ node: nodeId }, { versions }, { actor }) {
    if (!/^[1-9]\d{0,5}$/.test(versions))
      throw new UsageError('--versions must be a whole number from 1 to 999999.');
    const [of, max_versions] = [nodeKey(nodeId), Number(versions)];
    const { changed } = await change(newContext(), actor, { first: { item: of } }, ({ item }) => {
      const node = existingNode(item, nodeId);
      if (node.max_versions === max_versions) return { done: undefined };
      return {
        change: { of, action: 'node limit', subject: node.id, detail: `${versions} versions` },
        writes: [updating<NodeRecord>(of, { max_versions }, present)],
        result: undefined,
      };
    });
    const text = changed
      ? `The node "${nodeId}" may have ${versions} versions now.`
      : `The node "${nodeId}" could have ${versions} versions already: nothing changed.`;
    return { data: nodeData(await showNode(nodeId)), text };
  },
});

/** For every ban. */
export const banNotes =
  'Versions are banned one by one, and their archives denied to readers; addresses that were handed out answer 403\nwithin minutes. Needs the rights of the stage’s AdministrationRole.';

export const ban = command({
  parameters: ['node'],
  summary: 'Stop a node: no updates, no new versions, no downloads',
  notes: banNotes,
  options: {
    reason: { value: 'TEXT', about: 'The reason; callers see it as status_detail', required: true },
  },
  tellsOwners: true,
  examples: ['node ban demo-node --reason "Copies another node; see case 7"'],
  impact: async ({ node }) => `bans ${await describeNode(node)}`,
  run: ({ node }, { reason }, { actor }) => setBan(actor, node, reason),
});

export const unban = command({
  parameters: ['node'],
  summary: 'Let a banned node be used again',
  tellsOwners: true,
  examples: ['node unban demo-node'],
  run: ({ node }, _, { actor }) => setBan(actor, node),
});

async function setBan(actor: Operator, nodeId: string, reason?: string): Promise<CommandResult> {
  const { changed } = await setNodeBan(newContext(), actor, nodeId, reason);
  return aligned(nodeId, describeBan(`node "${nodeId}"`, reason, changed));
}

/** What became of a ban, or of the end of one. */
export function describeBan(subject: string, reason: string | undefined, changed: boolean): string {
  if (changed) return `${reason === undefined ? 'Unbanned' : 'Banned'} the ${subject}.`;
  const state = reason === undefined ? 'not banned' : 'already banned for this reason';
  return `The ${subject} was ${state}: nothing changed.`;
}

function aligned(nodeId: string, text: string): Promise<CommandResult> {
  return aligning({ nodeIds: [nodeId] }, async () => ({ data: nodeData(await showNode(nodeId)), text }));
}

/** A node as --json prints it: its latest version has the key of the archive instead of a download URL. */
function nodeData({ node, publisher }: { node: NodeRecord; publisher?: PublisherRecord }) {
  const { translations, latest_version, ...rest } = node;
  return {
    id: node.id,
    publisher_id: publisher?.id ?? node.publisher_id,
    ...pickFields(rest, Node),
    ...(translations !== undefined && { translations: parseAsWritten(translations) }),
    latest_version,
    ...(publisher && { publisher: publisherView(publisher) }),
  };
}
