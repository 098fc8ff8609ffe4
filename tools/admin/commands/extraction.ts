import { versionCopy } from '../../../lib/registry/latest-version.ts';
import { command } from '../command.ts';
import { extractNodeVersion } from '../registry/extraction.ts';
import { findStage } from '../target.ts';
import { fields } from 'command-line/table';
import { extractionOf } from './node-versions.ts';

export const extract = command({
  parameters: ['node', 'version'],
  summary: 'Read the host nodes of a version from its archive again',
  notes:
    'After an update of the extractor, or for a version whose extraction was lost. The archive is never run. Entries\nthat people edited stay; others that are no longer found are removed. Reads the bucket with your own rights.',
  examples: ['node-version extract demo-node 1.0.0'],
  async run({ node, version }) {
    await findStage();
    const { record, found, removed } = await extractNodeVersion(node, version);
    const text = fields({
      Version: record.version,
      Node: record.node_id,
      'Host nodes': extractionOf(record),
      Found: [...found.nodes.keys()].sort().join(', '),
      Removed: removed.join(', '),
      'Admin tags': record.tags_admin?.join(', '),
    });
    return { data: { ...versionCopy(record), found: [...found.nodes.keys()], removed }, text };
  },
});
