import { shownVersion } from '../../../lib/registry/node-versions.ts';
import { command, problemOf } from '../command.ts';
import { textOf } from '../faults.ts';
import { extractNodeVersion } from '../registry/extraction.ts';
import { Rejection } from '../registry/rejection.ts';
import { fields, table } from '../../command-line/table.ts';
import { extractionOf } from './node-versions.ts';

const options = {
  bucket: { value: 'NAME', about: 'The bucket of a deployed stage: BucketName of its outputs' },
} as const;
const limitMs = 10 * 60 * 1000;

/** For the bucket's module, which reads the environment when it is loaded. */
function requireBucket(bucket: string | undefined): void {
  if (bucket !== undefined) process.env.BUCKET_NAME = bucket;
  if (!process.env.BUCKET_NAME) throw new Rejection('Name the bucket of the archives: --bucket NAME.');
}

export const extract = command({
  parameters: ['node', 'version'],
  summary: 'Read the host nodes of a version out of its archive again',
  notes:
    'After an update of the extractor, or for a version whose extraction got lost. The archive is never run. What a\nperson wrote stays; other entries that are not found any more are removed. Reads the bucket with your own rights.',
  options,
  examples: [
    'node-version extract demo-node 1.0.0',
    'node-version extract some-node 1.2.0 --region eu-west-1 --table node-registry-production --bucket archives',
  ],
  async run({ node, version }, { bucket }) {
    requireBucket(bucket);
    const { record, found, removed } = await extractNodeVersion(node, version);
    const text = fields({
      Version: record.version,
      Node: record.node_id,
      'Host nodes': extractionOf(record),
      Found: [...found.nodes.keys()].sort().join(', '),
      Removed: removed.join(', '),
      'Admin tags': record.tags_admin?.join(', '),
    });
    return { data: { ...shownVersion(record), found: [...found.nodes.keys()], removed }, text };
  },
});

export const sweep = command({
  parameters: [],
  summary: 'Read the host nodes of all versions whose extraction got lost',
  notes:
    'Looks at every published version whose host nodes are still pending. Safe to run at any time. A deployed stage\nsweeps every hour by itself, and looks back a day. The archives are never run. Uploads: see "uploads sweep".',
  options,
  examples: [
    'host-node sweep',
    'host-node sweep --region eu-west-1 --table node-registry-production --bucket archives',
  ],
  async run(_, { bucket }) {
    requireBucket(bucket);
    const { sweepExtractions } = await import('../../../lib/uploads/sweep-extractions.ts');
    const now = Date.now();
    const data: { node_id: string; version: string; finding: string; error?: string | undefined }[] = [];
    const period = { from: 0, to: now };
    const report = await sweepExtractions(
      { deadline: now + limitMs },
      period,
      (entry, { finding, error }) => {
        const { nodeId: node_id, version } = entry;
        data.push({ node_id, version, finding, ...(error !== undefined && { error: textOf(error) }) });
      },
    );
    const rows = data.map(({ node_id, version, finding, error }) => [node_id, version, finding, error]);
    const failed = report.failed + report.unvisited;
    return {
      data,
      problem: problemOf(failed, data.length),
      text: rows.length > 0 ? table(['NODE', 'VERSION', 'FOUND', 'ERROR'], rows) : 'No version waits for it.',
    };
  },
});
