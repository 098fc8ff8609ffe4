import { versionCopy } from '../../../lib/registry/latest-version.ts';
import { command } from '../command.ts';
import { withDownloads } from '../downloads.ts';
import { describeNodeVersion } from '../listing.ts';
import { banNodeVersion } from '../registry/node-versions.ts';
import { showNode } from '../registry/nodes.ts';
import { memberTable } from './publishers.ts';

export const run = command({
  parameters: ['node', 'version'],
  summary: 'Take down a harmful version, and print the notice for its publisher’s members',
  notes:
    'Bans the version, denies its archive to readers, and leaves an entry in the history. Send the notice to the members\nthat it lists: the registry itself sends no mail. Callers see the reason as status_reason.',
  isDefault: true,
  options: { reason: { value: 'TEXT', about: 'The reason, and what to do about it', required: true } },
  isResumable: true,
  examples: ['takedown demo-node 1.2.0 --reason "Steals keys: go back to 1.1.0 and change your keys"'],
  impact: async ({ node, version }) => `takes down ${await describeNodeVersion(node, version)}`,
  async run({ node: nodeId, version }, { reason }) {
    const { result } = await banNodeVersion(nodeId, version, reason, 'takedown');
    const { publisher } = await showNode(nodeId);
    const notice = `Version ${result.version} of "${result.node_id}" was taken down: ${reason}`;
    const members = Object.entries(publisher.members).map(([user, member]) => ({ user, ...member }));
    return withDownloads([nodeId], {
      data: { node_version: versionCopy(result), notice, members },
      text: `${notice}\n\nSend this to the members of "${publisher.id}":\n${memberTable(publisher.members)}\n`,
    });
  },
});
