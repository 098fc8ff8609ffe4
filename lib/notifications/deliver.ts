import type { Context } from '../context.ts';
import { log, note } from '../log.ts';
import { deliverOnce } from './deliver-once.ts';
import { claim, conclude, end, readWaiting } from './outbox.ts';
import { maxDelaySeconds } from '../aws/queue.ts';
import { enqueue, type QueuedAttempt } from './queue.ts';
import type { NotificationRecord } from './records.ts';
import { showStatus } from './show-status.ts';
import { loadSigningKeys } from './signing-keys.ts';

/**
 * Makes the delivery attempt that a message names, unless it was made already. The first attempt also shows the task's
 * status. It throws only for a fault of ours, so that the queue repeats the message.
 */
export async function deliver(context: Context, message: QueuedAttempt): Promise<void> {
  const waiting = await readWaiting(context, message);
  if (waiting === undefined) return;
  if (waiting.attempts === 0) await showStatus(context, waiting);
  const { address } = waiting;
  if (address === undefined) return end(context, waiting, 'shown', {});
  note({ host: hostOf(address) });
  await notify(context, waiting, address);
}

/** Its line names the receiver's host only: the rest of an address may be a secret, and so may the answer. */
async function notify(context: Context, waiting: NotificationRecord, address: string): Promise<void> {
  const began = Date.now();
  const keys = await loadSigningKeys(context);
  const record = await claim(context, waiting);
  if (record === undefined) return;
  if (record === 'exhausted')
    return log('info', 'delivery', { outcome: 'failed', attempt: waiting.attempts });
  note({ attempt: record.attempts, state: record.state });
  const result = await deliverOnce({ ...record, address }, keys);
  const conclusion = await conclude(context, record, result);
  const { outcome } = conclusion;
  log('info', 'delivery', {
    outcome,
    ms: Date.now() - began,
    ...(outcome === 'delivered' && { delivery_lag_ms: Date.now() - Date.parse(record.at) }),
    ...(result.status !== undefined && { status: result.status }),
    ...(result.outcome === 'failed' && { error: result.error }),
  });
  if (conclusion.outcome !== 'again' || conclusion.waitSeconds > maxDelaySeconds) return;
  await enqueue(context, { ...record, delaySeconds: conclusion.waitSeconds });
}

/** No name is longer, but an address may be. */
const maxHostLength = 253;

/** The host as log lines have it: the rest of an address may be a secret. */
function hostOf(address: string): string {
  return (URL.parse(address)?.hostname ?? '').slice(0, maxHostLength);
}
