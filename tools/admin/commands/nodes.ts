import { command, type CommandResult, UsageError } from '../command.ts';
import { aligning } from '../alignment.ts';
import { transferNode } from '../../../lib/registry/moves.ts';
import { fields, table } from '@node-registry/command-line/table';
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
import { type NodeRecord, type PublisherRecord, pickFields } from '../../../lib/registry/records.ts';
import { Node } from '@node-registry/registry-rules/schemas/node';
import { present } from '../../../lib/store/items.ts';
import { nodeKey } from '../../../lib/store/keys.ts';
import { updating } from '../../../lib/store/write.ts';
import { parseAsWritten } from '../../../lib/json.ts';
import { setNodeBan } from '../../../lib/registry/bans.ts';
import { newContext } from '../registry/administration.ts';

const statuses: Record<string, NodeRecord['status']> = {
  active: 'NodeStatusActive',
  banned: 'NodeStatusBanned',
  withdrawn: 'NodeStatusDeleted',
};

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
    const wanted = status === undefined ? undefined : statuses[status];
    if (status !== undefined && !wanted)
      throw new UsageError(`The status must be one of ${Object.keys(statuses).join(', ')}.`);
    const found = publisher === undefined ? await listAllNodes() : await listNodes(publisher);
    const chosen = found.filter((node) => wanted === undefined || node.status === wanted);
    const nodes = await sized(chosen, 'node_id', isBySize);
    const rows = nodes.map(
      ({ id, publisher_id, name, status, latest_version, created_at, archive_bytes }) => [
        ...[id, publisher_id, name, status.replace('NodeStatus', '').toLowerCase()],
        ...[latest_version?.version, created_at, archive_bytes],
      ],
    );
    const none = publisher === undefined ? 'No nodes.' : `"${publisher}" has no nodes.`;
    const headings = ['NODE', 'PUBLISHER', 'NAME', 'STATUS', 'LATEST', 'CREATED'];
    const text = table(isBySize ? [...headings, 'BYTES'] : headings, rows, { alignRight: [6], none });
    return {
      data: nodes.map((node) => ({ ...nodeData({ node }), archive_bytes: node.archive_bytes })),
      text,
    };
  },
});

export const show = command({
  parameters: ['node'],
  summary: 'Show a node',
  readsOnly: true,
  examples: ['node show demo-node', 'node show demo-node --json'],
  async run({ node: nodeId }) {
    const { node, publisher } = await showNode(nodeId);
    const text = fields({
      Node: node.id,
      Name: node.name,
      Description: node.description,
      Publisher: publisher.id,
      Status: node.status,
      Detail: node.status_detail,
      Latest: node.latest_version?.version ?? 'none',
      Repository: node.repository,
      Tags: node.tags?.join(', '),
      'Admin tags': node.tags_admin?.join(', '),
      Created: node.created_at,
    });
    return { data: nodeData({ node, publisher }), text };
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
  async run({ node: nodeId }, { reason }, { actor }) {
    const { changed } = await setNodeBan(newContext(), actor, nodeId, reason);
    const text = changed
      ? `Banned the node "${nodeId}".`
      : `The node "${nodeId}" was already banned for this reason: nothing changed.`;
    return aligned(nodeId, text);
  },
});

export const unban = command({
  parameters: ['node'],
  summary: 'Let a banned node be used again',
  tellsOwners: true,
  examples: ['node unban demo-node'],
  async run({ node: nodeId }, _, { actor }) {
    const { changed } = await setNodeBan(newContext(), actor, nodeId, undefined);
    const text = changed
      ? `Unbanned the node "${nodeId}".`
      : `The node "${nodeId}" was not banned: nothing changed.`;
    return aligned(nodeId, text);
  },
});

function aligned(nodeId: string, text: string): Promise<CommandResult> {
  return aligning({ nodeIds: [nodeId] }, async () => ({ data: nodeData(await showNode(nodeId)), text }));
}

/** A node as --json prints it: its latest version has the key of the archive instead of a download URL. */
function nodeData({ node, publisher }: { node: NodeRecord; publisher?: PublisherRecord }) {
  const { translations, latest_version, ...rest } = node;
  return {
    ...pickFields(rest, Node),
    ...(translations !== undefined && { translations: parseAsWritten(translations) }),
    latest_version,
    ...(publisher && { publisher: publisherView(publisher) }),
  };
}
