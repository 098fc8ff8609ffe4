import type { EventBridgeEvent, S3Event } from 'aws-lambda';
import { decodeKey } from '../bucket/object-keys.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { type Period, requireNoneFailed } from '../store/due.ts';
import { finalizeUpload } from './finalize-upload.ts';
import { sweepUploads } from './sweep-uploads.ts';

/** The schedule names no time. An administrator may, after a restore or a long failure. */
type SweepEvent = EventBridgeEvent<'Scheduled Event', unknown> & { from?: unknown };

/** How far back a scheduled sweep looks: several runs get their chance, and no rejected archive is checked for ever. */
const lookBackMs = 6 * 60 * 60 * 1000;

/** The youngest work is left to its events and their retries. */
const graceMs = 60 * 1000;

/**
 * Takes S3's events, and a schedule that makes up for lost ones. Both take no answer: a bad archive is a result like any
 * other, and only what may go better next time is thrown, so that Lambda runs the event again, and in the end hands it to
 * the dead-letter queue.
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

/** The range of a sweep: as far back as the schedule or the event says, without the youngest. */
function sweepPeriod({ from }: SweepEvent): Period {
  const now = Date.now();
  const to = now - graceMs;
  if (from === undefined) return { from: now - lookBackMs, to };
  // A time without a zone would be in the machine's.
  const time = typeof from === 'string' && from.endsWith('Z') ? Date.parse(from) : Number.NaN;
  if (time < to) return { from: time, to };
  throw new Error('The event\'s "from" must be a past time such as "2026-11-20T00:00:00Z".');
}

/** Finalizes the upload of each record. One that fails does not take the others with it. The id is the same in retries. */
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
