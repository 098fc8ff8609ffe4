import type { EventBridgeEvent, Context as Invocation, S3Event } from 'aws-lambda';
import { decodeKey } from '../bucket/object-keys.ts';
import { type Context, contextOf } from '../context.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { type Period, requireNoneFailed, type SweepReport } from '../store/due.ts';

/** The schedule names no time. An administrator may, after a restore or a long failure. */
type SweepEvent = EventBridgeEvent<'Scheduled Event', unknown> & { from?: unknown };

interface Work {
  /** The function's name, and that of the line of each object. */
  function: string;
  line: string;
  /** The result for an object. `invocation` is the same in the retries of an event. */
  handle: (context: Context, objectKey: string, invocation: string) => Promise<string>;
  sweep: (context: Context, period: Period) => Promise<SweepReport>;
  /** How far back a scheduled sweep looks: several runs get their chance, and no refusal is checked for ever. */
  lookBackMs: number;
  /** The youngest work is left to its events and their retries. */
  graceMs: number;
}

/**
 * A function for S3's events and for a schedule that makes up for lost ones. Both take no answer: a bad archive is a
 * result like any other, and only what may go better next time is thrown, so that Lambda runs the event again, and in the
 * end hands it to the dead-letter queue.
 */
export function objectEvents(work: Work) {
  return async (
    event: S3Event | SweepEvent,
    invocation: Pick<Invocation, 'awsRequestId' | 'getRemainingTimeInMillis'>,
  ): Promise<void> => {
    const { awsRequestId } = invocation;
    const context = contextOf(invocation);
    await withLogFields({ function: work.function, function_request_id: awsRequestId }, async () => {
      if ('Records' in event) return handleObjects(context, event, awsRequestId, work);
      requireNoneFailed(await work.sweep(context, sweepPeriod(event, work)));
    });
  };
}

/** The range of a sweep: as far back as the schedule or the event says, without the youngest. */
function sweepPeriod({ from }: SweepEvent, { lookBackMs, graceMs }: Work): Period {
  const now = Date.now();
  const to = now - graceMs;
  if (from === undefined) return { from: now - lookBackMs, to };
  // A time without a zone would be in the machine's.
  const time = typeof from === 'string' && from.endsWith('Z') ? Date.parse(from) : Number.NaN;
  if (time < to) return { from: time, to };
  throw new Error('The event\'s "from" must be a past time such as "2026-11-20T00:00:00Z".');
}

/** Handles each object of an S3 event. One that fails does not take the others with it. */
async function handleObjects(
  context: Context,
  { Records }: S3Event,
  invocation: string,
  { line, handle }: Work,
): Promise<void> {
  const errors: unknown[] = [];
  for (const record of Records) {
    const started = process.uptime();
    const duration = () => ({
      ms: Math.round((process.uptime() - started) * 1000),
      lag_ms: Date.now() - Date.parse(record.eventTime),
    });
    await withLogFields({ key: record.s3.object.key }, async () => {
      try {
        const outcome = await handle(context, decodeKey(record.s3.object.key), invocation);
        log('info', line, { outcome, ...duration() });
      } catch (error) {
        log('error', line, { outcome: 'failed', ...duration(), ...describeError(error) });
        errors.push(error);
      }
    });
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of ${Records.length} objects failed.`);
}
