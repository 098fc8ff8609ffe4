import type { EventBridgeEvent, S3Event } from 'aws-lambda';
import { describeError, log, withLogFields } from '../log.ts';

interface Wording {
  /** The function's name, and that of its log line. */
  function: string;
  line: string;
  /** What is said of those that failed. */
  failed: string;
}

/** Handles each object of an S3 event. One that fails does not take the others with it. */
export async function forEachObject(
  { function: functionName, line, failed }: Wording,
  { Records }: S3Event,
  handle: (key: string) => Promise<string>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const record of Records) {
    const started = process.uptime();
    const duration = () => ({
      ms: Math.round((process.uptime() - started) * 1000),
      lag_ms: Date.now() - Date.parse(record.eventTime),
    });
    await withLogFields({ function: functionName, key: record.s3.object.key }, async () => {
      try {
        const outcome = await handle(decodeKey(record.s3.object.key));
        log('info', line, { outcome, ...duration() });
      } catch (error) {
        log('error', line, { outcome: 'failed', ...duration(), ...describeError(error) });
        errors.push(error);
      }
    });
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} ${failed}.`);
}

/** S3 writes keys into its events as forms do: percent-encoded, with + for a space. */
function decodeKey(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}

/** The schedule names no time. An administrator may, after a restore or a long failure. */
export type SweepEvent = EventBridgeEvent<'Scheduled Event', unknown> & { from?: unknown };

interface Period {
  from: number;
  to: number;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z$/;

/** What a sweep looks at: as far back as the schedule does, or as the event says, and not the youngest. */
export function sweepPeriod({ from }: SweepEvent, lookBackMs: number, graceMs: number): Period {
  const now = Date.now();
  const to = now - graceMs;
  if (from === undefined) return { from: now - lookBackMs, to };
  const time = typeof from === 'string' && isoTime.test(from) ? Date.parse(from) : Number.NaN;
  if (time < to) return { from: time, to };
  throw new Error('The event\'s "from" must be a past time such as "2026-11-20T00:00:00Z".');
}
