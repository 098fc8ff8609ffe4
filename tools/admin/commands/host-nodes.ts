import { command } from '../command.ts';
import { table } from '@node-registry/command-line/table';
import { listHostNodes } from '../listing.ts';
import { type NodeRecord, nodeRecord } from '../../../lib/registry/records.ts';
import { hostNodeKey, nodeKey } from '../../../lib/store/keys.ts';
import { scan } from '../registry/administration.ts';

export const list = command({
  parameters: ['node', 'version'],
  summary: 'List the host nodes of a node version',
  readsOnly: true,
  examples: ['host-node list demo-node 1.0.0'],
  async run({ node, version }) {
    const hostNodes = await listHostNodes(node, version);
    const rows = hostNodes.map(
      ({ host_node_name, display_name, policy, category, deprecated, description }) => [
        ...[host_node_name, display_name, policy?.replace('HostNodePolicy', ''), category],
        ...[deprecated ? 'yes' : 'no', description],
      ],
    );
    const headings = ['NAME', 'TITLE', 'POLICY', 'CATEGORY', 'DEPRECATED', 'DESCRIPTION'];
    const none = `Version ${version} of "${node}" has no host nodes.`;
    return { data: hostNodes, text: table(headings, rows, { none }) };
  },
});

export const clashes = command({
  parameters: [],
  summary: 'List host node names that the latest versions of several nodes share',
  readsOnly: true,
  notes:
    'The oldest node comes first. Nothing is changed, not even preempted_host_node_names: only administrators set them.\nReads the whole table.',
  examples: ['host-node clashes', 'host-node clashes --json'],
  async run() {
    const found = await listClashes();
    const rows = found.map(({ name, nodes }) => [
      name,
      nodes.map(({ id, publisher_id }) => `${id} (${publisher_id})`).join(', '),
    ]);
    const none = 'No two nodes have a host node of the same name.';
    return { data: found, text: table(['NAME', 'NODES'], rows, { none }) };
  },
});

/** One name that the latest versions of several nodes have. The host application loads one of them. */
interface Clash {
  name: string;
  /** The oldest node first, which probably had the name first. */
  nodes: Pick<NodeRecord, 'id' | 'publisher_id' | 'created_at'>[];
}

const hostNodePrefix = hostNodeKey('', '', '').sk;
const nodeSortKey = nodeKey('').sk;

/** Nodes, and the keys of host nodes. */
const nodesAndNames = {
  FilterExpression: 'sk = :node OR begins_with(sk, :hostNode)',
  fields: ['pk', 'sk', 'id', 'publisher_id', 'created_at', 'status', 'latest_version'],
  ExpressionAttributeValues: { ':node': { S: nodeSortKey }, ':hostNode': { S: hostNodePrefix } },
};

/** Names of host nodes that several nodes share. */
async function listClashes(): Promise<Clash[]> {
  const nodes = new Map<string, NodeRecord>();
  const names = new Map<string, string[]>();
  for await (const item of scan(nodesAndNames)) {
    const [pk, sk] = [String(item.pk), String(item.sk)];
    if (sk === nodeSortKey) {
      const node = nodeRecord(item);
      const latest = node.status === 'NodeStatusActive' ? node.latest_version : undefined;
      if (latest) nodes.set(hostNodeKey(node.id, latest.version, '').pk, node);
    } else {
      const name = sk.slice(hostNodePrefix.length);
      names.set(name, [...(names.get(name) ?? []), pk]);
    }
  }
  const clashes = [...names].map(([name, places]) => ({
    name,
    nodes: places
      .flatMap((place) => nodes.get(place) ?? [])
      .map(({ id, publisher_id, created_at }) => ({ id, publisher_id, created_at }))
      .sort((a, b) => a.created_at.localeCompare(b.created_at, 'en')),
  }));
  return clashes
    .filter((clash) => clash.nodes.length > 1)
    .sort((a, b) => b.nodes.length - a.nodes.length || a.name.localeCompare(b.name, 'en'));
}
