import { listClashes } from '../clashes.ts';
import { command } from '../command.ts';
import { table } from 'command-line/table';
import { listHostNodes } from '../listing.ts';

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
    'The oldest node comes first. Nothing is changed: preempted_host_node_names stay what administrators made them.\nReads the whole table.',
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
