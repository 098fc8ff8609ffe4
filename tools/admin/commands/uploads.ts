import { Rejection } from '../registry/administration.ts';
import { command, unfinished, textOf } from '../command.ts';
import { table } from '@node-registry/command-line/table';

const limitMs = 10 * 60 * 1000;

/** The findings for which the version's earlier reason still holds. */
const standing = new Set(['waiting', 'abandoned']);

interface Found {
  node_id: string;
  version: string;
  version_id: string;
  finding: string;
  since: string;
  reason?: string;
  error?: string | undefined;
}

/** Only the finalizer may write archives, even if the administrator's rights are wider. */
function onlyTheFinalizer(): string {
  const { AWS_REGION, TABLE_NAME } = process.env;
  // Older archives are gone from staging (infra/template/archives.yml).
  const from = new Date(Date.now() - 3 * 24 * 60 * 60 * 1000).toISOString();
  return `On a deployed stage only the finalizer may publish. It sweeps every hour, and looks back six hours. To sweep now, from three days ago or another time:
  echo '{"from": "${from}"}' >sweep.json
  aws lambda invoke --region ${AWS_REGION} --function-name ${TABLE_NAME}-finalizeUpload --payload fileb://sweep.json --cli-read-timeout 0 --log-type Tail --query LogResult --output text /dev/null | base64 --decode`;
}

export const sweep = command({
  parameters: [],
  summary: 'Publish archives whose event was lost, and list abandoned uploads',
  notes:
    'Looks at every version that still waits for its archive. Archives in staging are checked and published or\nrejected, as by their events. Safe to run at any time. A deployed stage sweeps every hour by itself.',
  examples: ['uploads sweep'],
  async run() {
    if (!process.env.BUCKET_NAME) throw new Rejection(onlyTheFinalizer());
    // The bucket's module reads the environment when it is loaded, and no other command needs the S3 client.
    const { sweepUploads } = await import('../../../lib/uploads/upload-events.ts');
    const now = Date.now();
    const data: Found[] = [];
    const report = await sweepUploads({ deadline: now + limitMs }, { from: 0, to: now }, (entry, visited) => {
      const { node_id, version, id: version_id, pending_since: since, status_reason: reason = '' } = entry;
      const { finding, error } = visited;
      data.push({
        node_id,
        version,
        version_id,
        finding,
        since,
        ...(standing.has(finding) && { reason }),
        ...(error !== undefined && { error: textOf(error) }),
      });
    });
    const rows = data.map(({ node_id, version, finding, since, reason, error }) => [
      ...[node_id, version, finding, since, error ?? reason],
    ]);
    const none = 'No version waits for its archive.';
    const text = table(['NODE', 'VERSION', 'FOUND', 'SINCE', 'REASON'], rows, { none });
    const failed = report.failed + report.unvisited;
    return { data, text, problem: unfinished(failed, data.length) };
  },
});
