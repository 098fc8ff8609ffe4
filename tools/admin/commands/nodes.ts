import { banNode, showNode, unbanNode } from '../registry/nodes.ts';
import { command } from '../command.ts';
import { fields } from '../layout.ts';

export const show = command({
  parameters: ['node'],
  summary: 'Show a node',
  notes: 'The text shows the most important fields, --json all of them.',
  options: {},
  examples: ['node show demo-node', 'node show demo-node --json'],
  async run({ node: nodeId }) {
    const node = await showNode(nodeId);
    const text = fields({
      Node: node.id,
      Name: node.name,
      Description: node.description,
      Publisher: node.publisher?.id,
      Status: node.status,
      Detail: node.status_detail,
      Latest: node.latest_version?.version ?? 'none',
      Repository: node.repository,
      Tags: node.tags?.join(', '),
      'Admin tags': node.tags_admin?.join(', '),
      Created: node.created_at,
    });
    return { data: node, text };
  },
});

export const ban = command({
  parameters: ['node'],
  summary: 'Stop a node: no updates, no new versions',
  notes:
    'Its published versions stay readable in bulk: ban those that nobody may download with node-version ban.',
  options: { reason: { value: 'TEXT', about: 'Why; callers see it as status_detail', required: true } },
  examples: ['node ban demo-node --reason "Copies another node; see ticket 7"'],
  async run({ node: nodeId }, { reason }) {
    await banNode(nodeId, reason);
    return { data: await showNode(nodeId), text: `The node "${nodeId}" is banned.` };
  },
});

export const unban = command({
  parameters: ['node'],
  summary: 'Let a banned node be used again',
  options: {},
  examples: ['node unban demo-node'],
  async run({ node: nodeId }) {
    await unbanNode(nodeId);
    return { data: await showNode(nodeId), text: `The node "${nodeId}" is active.` };
  },
});
