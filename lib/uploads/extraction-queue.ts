import { queueAt } from '../aws/queue.ts';
import { decodeKey } from '../bucket/object-keys.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { isObject } from '../json.ts';
import { describeError, log } from '../log.ts';
import { postponeExtraction } from '../registry/extraction-tries.ts';
import { readListedVersions } from '../registry/listed-versions.ts';
import { handOver } from '../store/hand-over.ts';

/*
 * The queue of archives to read. S3 fills it, when an archive is published, and the sweep, with those whose reading is
 * due again. Everything else is in the record of the version, so a message may come twice, late or never.
 */

/** The redrive policy of the queue in infra/template/extractions.yml. */
export const maxReceives = 3;

const sendMessages = queueAt(() => config.extractionQueue().EXTRACTION_QUEUE_URL);

/** The keys that a message names: none if it is the one with which S3 tests the queue. */
export function archiveKeysOf(body: string): string[] {
  const content: unknown = JSON.parse(body);
  const { key, Records, Event } = isObject(content) ? content : {};
  if (typeof key === 'string') return [key];
  if (Event === 's3:TestEvent') return [];
  if (!Array.isArray(Records)) throw new Error('A queue message does not name an archive.');
  return Records.map((record) => decodeKey(String(record?.s3?.object?.key)));
}

/** With less time left, no further page is begun. */
const reservedMs = 10_000;

/** Hands every version whose extraction is due to the queue. */
export async function handOverExtractions(
  context: Context,
): Promise<{ handed: number; failed: number; unread_shards: number }> {
  let failed = 0;
  const onFailure = (error: unknown, versions: number) => {
    failed += versions;
    log('error', 'swept', { sweep: 'host-nodes', versions, ...describeError(error) });
  };
  const { handed, unread_shards } = await handOver(context, {
    work: 'host-nodes',
    order: 'newest first',
    reservedMs,
    onFailure,
    read: async (keys) =>
      (await readListedVersions(context, keys)).filter(({ archiveKey }) => archiveKey !== undefined),
    postpone: (version) => postponeExtraction(context, version),
    enqueue: (versions) =>
      sendMessages(
        context,
        versions.map(({ archiveKey }) => ({ body: { key: archiveKey } })),
      ),
  });
  const counts = { handed, failed, unread_shards };
  const sweep_findings = handed + failed;
  log('info', 'sweep', { sweep: 'host-nodes', ...counts, sweep_findings, sweep_unvisited: unread_shards });
  return counts;
}
