import { queueAt } from '../aws/queue.ts';
import { decodeKey } from '../bucket/object-keys.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { isObject } from '../json.ts';
import { describeError, log } from '../log.ts';
import { postponeExtraction } from '../registry/extraction.ts';
import { readListedVersions } from '../registry/node-versions.ts';
import { handOver } from '../store/hand-over.ts';

/*
 * The queue of archives to read. S3 adds published archives; the sweep adds those that are due to be read
 * again. Everything else is in the record of the version, so a message may come twice, late or never.
 */

/** The redrive policy of the queue in infra/template/extractions.yml. Receives throttled by Lambda count. */
export const maxReceives = 5;

const sendMessages = queueAt(() => config.extractionQueue().EXTRACTION_QUEUE_URL);

interface NamedArchive {
  key: string;
  /** How often its version was not active yet. */
  early: number;
}

/** The archives that a message names; S3's test message names none. */
export function namedArchives(body: string): NamedArchive[] {
  const content: unknown = JSON.parse(body);
  const { key, early, Records, Event } = isObject(content) ? content : {};
  if (typeof key === 'string') return [{ key, early: Number(early ?? 0) }];
  if (Event === 's3:TestEvent') return [];
  if (!Array.isArray(Records)) throw new Error('A queue message does not name an archive.');
  return Records.map((record) => ({ key: decodeKey(String(record?.s3?.object?.key)), early: 0 }));
}

const maxEarly = 6;
const firstDelaySeconds = 5;

/**
 * Sends a message again in seconds: the queue itself would show it in twelve minutes. After five minutes, the
 * version's own listing takes over.
 */
export async function sendLater(context: Context, { key, early }: NamedArchive): Promise<void> {
  if (early >= maxEarly) return;
  const delaySeconds = firstDelaySeconds * 2 ** early;
  await sendMessages(context, [{ body: { key, early: early + 1 }, delaySeconds }]);
}

/** With less time left, no further page is started. */
const reservedMs = 10_000;

/** Queues every version whose extraction is due. */
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
      (await readListedVersions(context, keys)).filter(({ archive_key }) => archive_key !== undefined),
    postpone: (version) => postponeExtraction(context, version),
    enqueue: (versions) =>
      sendMessages(
        context,
        versions.map(({ archive_key }) => ({ body: { key: archive_key } })),
      ),
  });
  const counts = { handed, failed, unread_shards };
  const sweep_findings = handed + failed;
  log('info', 'sweep', { sweep: 'host-nodes', ...counts, sweep_findings, sweep_unvisited: unread_shards });
  return counts;
}
