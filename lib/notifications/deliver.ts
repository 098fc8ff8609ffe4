import type { Context } from '../context.ts';
import { describeError, log, note, withLogFields } from '../log.ts';
import type { Key } from '../store/keys.ts';
import { attempt, maxAttemptMs } from './attempt.ts';
import { Lanes } from './lanes.ts';
import { claim, conclude, listDue, readWaiting, type Waiting } from './outbox.ts';
import type { SigningKey } from './signature.ts';
import { loadSigningKeys } from './signing-keys.ts';

/**
 * What one run looks at and holds, in each of 16 shards: far more than it can send, so that other callers are found
 * behind the long queue of one. All of it takes less than 20 MB.
 */
const maxDuePerShard = 1250;

/** After the last attempt there is time to write down how it went. */
const reservedMs = 2000;

export interface Run {
  /** How long the oldest has been due, and how many are. */
  oldestMs: number;
  due: number;
  /** How many of them there was no time for. */
  left: number;
  /** Of attempts that failed because of us, not of a receiver. */
  errors: unknown[];
}

/** Tries everything that is due once. */
export async function deliverDue(context: Context): Promise<Run> {
  const now = Date.now();
  const [keys, due] = await Promise.all([loadSigningKeys(context), listDue(context, now, maxDuePerShard)]);
  const oldestMs = due[0] ? now - Date.parse(due[0].since) : 0;
  const { left, errors } = await deliverAll(context, readWaiting(context, due, 'eventually'), keys);
  return { oldestMs, due: due.length, left, errors };
}

/** The first attempt for notifications that were just written. The schedule makes up for what goes wrong here. */
export async function deliverNew(context: Context, written: readonly Key[]): Promise<unknown[]> {
  const keys = await loadSigningKeys(context);
  return (await deliverAll(context, readWaiting(context, written), keys)).errors;
}

async function deliverAll(
  context: Context,
  batches: AsyncIterable<Waiting[]>,
  keys: readonly SigningKey[],
): Promise<Pick<Run, 'left' | 'errors'>> {
  const errors: unknown[] = [];
  const lanes = new Lanes(context.deadline - maxAttemptMs - reservedMs);
  for await (const batch of batches) {
    for (const waiting of batch) {
      const { host, caller_hash: caller } = waiting;
      const run = () =>
        withLogFields({ function: 'deliverNotifications', notification: waiting.id, host }, () =>
          deliver(context, waiting, keys).catch((error: unknown) => {
            log('error', 'delivery', { outcome: 'interrupted', ...describeError(error) });
            errors.push(error);
          }),
        );
      lanes.add({ caller, host, isRepeat: waiting.attempts > 0, run });
    }
  }
  return { left: await lanes.idle(), errors };
}

/** Its line names the receiver's host only: the rest of an address may be a secret, and so may the answer. */
async function deliver(context: Context, waiting: Waiting, keys: readonly SigningKey[]): Promise<void> {
  const began = Date.now();
  const record = await claim(context, waiting);
  if (record === undefined) return;
  if (record === 'exhausted') {
    log('info', 'delivery', { outcome: 'failed', attempt: waiting.attempts });
    return;
  }
  note({ attempt: record.attempts, state: record.state });
  const result = await attempt(record, keys);
  const outcome = await conclude(context, record, result);
  log('info', 'delivery', {
    outcome,
    ms: Date.now() - began,
    ...(outcome === 'delivered' && { delivery_lag_ms: Date.now() - Date.parse(record.at) }),
    ...(result.status !== undefined && { status: result.status }),
    ...(result.outcome === 'failed' && { error: result.error }),
  });
}
