import { command } from '../command.ts';
import { table } from '@node-registry/command-line/table';
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
