import type { Context as Invocation, S3Event } from 'aws-lambda';
import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import type { UploadResult } from './finalize-upload.ts';
import { forEachObject } from './object-events.ts';
import { type Period, type SweepEvent, sweepPeriod } from './sweep-period.ts';
import type { Finding, Swept } from './sweep-uploads.ts';

interface Handlers {
  finalize: (context: Context, key: string, finalizer: string) => Promise<UploadResult>;
  sweep: (context: Context, period: Period) => Promise<Swept[]>;
  /** What another room has to do every hour; it logs for itself. */
  alsoHourly: (context: Context) => Promise<void>;
}

type UploadEvent = S3Event | SweepEvent;
type EventInvocation = Pick<Invocation, 'awsRequestId' | 'getRemainingTimeInMillis'>;

const reservedMs = 1000;
const wording = { function: 'finalizeUpload', line: 'upload', failed: 'uploads could not be finalized' };

/** How far a scheduled sweep looks back: several runs get their chance, and old refusals are not checked for ever. */
const lookBackMs = 6 * 60 * 60 * 1000;

/** The youngest uploads are left to their events, which are most likely still on their way. */
const graceMs = 60 * 1000;

/** What a sweep finds only when an event was lost, a finalizer died, or the sweep itself does not get through. */
const unexpected = new Set<Finding>(['published', 'completed', 'failed', 'unvisited']);

/**
 * Turns two handlers into one for S3's events and for a schedule. S3 and EventBridge take no answer: a bad archive
 * is a result like any other, and only what may go better next time is thrown, so that Lambda runs the event again,
 * and in the end hands it to the dead-letter queue.
 */
export function uploadEvents({ finalize, sweep, alsoHourly }: Handlers) {
  return async (event: UploadEvent, invocation: EventInvocation): Promise<void> => {
    const context: Context = { deadline: Date.now() + invocation.getRemainingTimeInMillis() - reservedMs };
    if ('Records' in event) {
      // Lambda gives the retries of an event the id of its first invocation.
      return forEachObject(wording, event, (key) => finalize(context, key, invocation.awsRequestId));
    }
    // Neither of them may keep the other from its work.
    const results = await Promise.allSettled([sweepAll(context, sweep, event), alsoHourly(context)]);
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join(' '));
    if (errors.length > 0) throw errors[0];
  };
}

async function sweepAll(context: Context, sweep: Handlers['sweep'], event: SweepEvent): Promise<void> {
  const swept = await sweep(context, sweepPeriod(event, lookBackMs, graceMs));
  for (const { nodeId, version, finding, error } of swept) {
    const causes = finding === 'failed' ? describeError(error) : {};
    log(finding === 'failed' ? 'error' : 'info', 'swept', { node_id: nodeId, version, finding, ...causes });
  }
  const failed = swept.filter(({ finding }) => finding === 'failed').length;
  const findings = swept.filter(({ finding }) => unexpected.has(finding)).length;
  log('info', 'sweep', { versions: swept.length, failed, sweep_findings: findings });
  if (failed > 0) throw new Error(`${failed} of ${swept.length} versions could not be swept.`);
}
