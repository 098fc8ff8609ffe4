import { randomUUID } from 'node:crypto';
import type { EventBridgeEvent, S3Event } from 'aws-lambda';
import { findObject } from '../bucket/bucket.ts';
import { decodeKey, stagingKey } from '../bucket/object-keys.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { awaitedUpload, type ListedVersion, readListedVersions } from '../registry/node-versions.ts';
import { finishPublishing } from '../registry/finalizing.ts';
import {
  type DueKey,
  type Period,
  requireNoneFailed,
  type Sweep,
  sweepDue,
  type SweepReport,
} from '../store/due.ts';
import { finalizeUpload, type UploadState } from './finalize-upload.ts';

/** The schedule sends no time. An administrator may, after a restore or a long failure. */
type SweepEvent = EventBridgeEvent<'Scheduled Event', unknown> & { from?: unknown };

/** How far back a scheduled sweep looks: several runs get a chance, and no rejected archive is checked forever. */
const lookBackMs = 6 * 60 * 60 * 1000;

/** The youngest work is left to its events and their retries. */
const graceMs = 60 * 1000;

/**
 * Handles S3's events, and a schedule that makes up for lost ones. Neither caller reads a response: a bad
 * archive is a result like any other. Throws only if a retry may help, so that Lambda runs the event again,
 * and in the end moves it to the dead-letter queue.
 */
export async function handleUploads(
  event: S3Event | SweepEvent,
  invocation: Required<EventInvocation>,
): Promise<void> {
  const context = contextOf(invocation);
  const { awsRequestId } = invocation;
  await withLogFields({ function: 'finalizeUpload', function_request_id: awsRequestId }, async () => {
    if ('Records' in event) return finalizeAll(context, event, awsRequestId);
    requireNoneFailed(await sweepUploads(context, sweepPeriod(event)));
  });
}

/** The range of a sweep: as far back as the schedule or the event says, without the youngest work. */
function sweepPeriod({ from }: SweepEvent): Period {
  const now = Date.now();
  const to = now - graceMs;
  if (from === undefined) return { from: now - lookBackMs, to };
  // A time without a zone would be in the machine's.
  const time = typeof from === 'string' && from.endsWith('Z') ? Date.parse(from) : Number.NaN;
  if (time < to) return { from: time, to };
  throw new Error('The event\'s "from" must be a past time such as "2026-11-20T00:00:00Z".');
}

/** Finalizes each record's upload. A failed one doesn't stop the others. The id is the same in retries. */
async function finalizeAll(context: Context, { Records }: S3Event, finalizerId: string): Promise<void> {
  const errors: unknown[] = [];
  for (const record of Records) {
    const started = process.uptime();
    const duration = () => ({
      ms: Math.round((process.uptime() - started) * 1000),
      lag_ms: Date.now() - Date.parse(record.eventTime),
    });
    await withLogFields({ key: record.s3.object.key }, async () => {
      try {
        const outcome = await finalizeUpload(context, decodeKey(record.s3.object.key), finalizerId);
        log('info', 'upload', { outcome, ...duration() });
      } catch (error) {
        log('error', 'upload', { outcome: 'failed', ...duration(), ...describeError(error) });
        errors.push(error);
      }
    });
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of ${Records.length} objects failed.`);
}

interface ListedUpload extends ListedVersion {
  hasArrived: boolean;
}

/** A signed URL accepts uploads for fifteen minutes, and a large one may need as long again to arrive. */
const patienceMs = 30 * 60 * 1000;

/** More would fill the memory with archives. */
const visitsAtOnce = 4;

/** Reserved for a visit without a check: a killed sweep writes no summary, and Lambda retries it twice. */
const visitMs = 5_000;

/** 100 MB take about 20 seconds alone; archives that are checked at the same time share the processor. */
const checkedBytesPerMs = 5_000;

/** A sweep that has just begun takes an archive of any size. */
const maxCheckMs = 120_000;

/** Finds versions with lost events and finishes them, newest first: old spam never delays a recent loss. */
export function sweepUploads(
  context: Context,
  period: Period,
  onVisited?: Sweep<ListedUpload, UploadState>['onVisited'],
): Promise<SweepReport> {
  const finalizerId = randomUUID();
  const hasTimeFor = (sizeBytes: number) => {
    const checkMs = Math.min(maxCheckMs, (visitsAtOnce * sizeBytes) / checkedBytesPerMs);
    return Date.now() + visitMs + checkMs <= context.deadline;
  };
  return sweepDue<ListedUpload, UploadState>(context, {
    work: 'uploads',
    period,
    order: 'newest first',
    visitsAtOnce,
    hasTime: () => hasTimeFor(0),
    read: (keys) => readUploads(context, keys),
    visit: async (listed) => {
      const upload = awaitedUpload(listed);
      if (!upload) {
        await finishPublishing(context, listed.node_id, listed.version);
        return 'completed';
      }
      const result = listed.hasArrived
        ? await finalizeUpload(context, stagingKey(upload), finalizerId, hasTimeFor)
        : 'missing';
      if (result !== 'missing') return result;
      return Date.parse(listed.pending_since) + patienceMs < Date.now() ? 'abandoned' : 'waiting';
    },
    unexpected: ['published', 'completed'],
    quiet: ['waiting', 'abandoned'],
    nameOf: ({ node_id, version }) => ({ node_id, version }),
    onVisited,
  });
}

/** Most uploads never came. Looks for them page by page, so that a large number doesn't delay the others. */
async function readUploads(context: Context, keys: readonly DueKey[]): Promise<ListedUpload[]> {
  const listed = await readListedVersions(context, keys);
  const look = async (version: ListedVersion) => {
    const upload = awaitedUpload(version);
    // The visit finds a failure again, and reports it.
    return upload !== undefined && findObject(stagingKey(upload)).then(Boolean, () => true);
  };
  return Promise.all(listed.map(async (version) => ({ ...version, hasArrived: await look(version) })));
}
