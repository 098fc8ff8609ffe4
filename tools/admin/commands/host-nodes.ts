import { listHostNodes } from '../registry/nodes.ts';
import { command } from '../command.ts';
import { table } from '../../command-line/table.ts';

export const list = command({
  parameters: ['node', 'version'],
  summary: 'List the host nodes of a node version',
  options: {},
  examples: ['host-node list demo-node 1.0.0'],
  async run({ node, version }) {
    const hostNodes = await listHostNodes(node, version);
    const rows = hostNodes.map(({ host_node_name, policy, category, deprecated, description }) => [
      host_node_name,
      policy?.replace('HostNodePolicy', ''),
      category,
      deprecated ? 'yes' : 'no',
      description,
    ]);
    const text = table(['NAME', 'POLICY', 'CATEGORY', 'DEPRECATED', 'DESCRIPTION'], rows);
    return {
      data: hostNodes,
      text: rows.length > 0 ? text : `Version ${version} of "${node}" has no host nodes.`,
    };
  },
});
