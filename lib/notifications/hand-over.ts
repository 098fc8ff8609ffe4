import type { Context } from '../context.ts';
import { type DueKey, listShard, postpone, readDue } from './outbox.ts';
import { maxMessages } from '../aws/queue.ts';
import { enqueue } from './queue.ts';
import { notifyShards } from './records.ts';
import { loadSigningKeys } from './signing-keys.ts';

export interface HandOver {
  due: number;
  handed: number;
  /** How long the oldest has been due. */
  oldestMs: number;
  errors: unknown[];
}

/** With less time left, no further page is begun. */
const reservedMs = 5000;

/**
 * Queues notifications whose wait is longer than the queue's maximum, and those that were stored and never queued. Each is
 * listed for later first, so overlapping runs queue nothing twice.
 */
export async function handOverDue(context: Context): Promise<HandOver> {
  const run: HandOver = { due: 0, handed: 0, oldestMs: 0, errors: [] };
  // Receivers need the public key before the first notification, and a missing key must show here.
  const work = [loadSigningKeys(context), ...notifyShards.map((shard) => handOverShard(context, shard, run))];
  for (const result of await Promise.allSettled(work))
    if (result.status === 'rejected') run.errors.push(result.reason);
  return run;
}

async function handOverShard(context: Context, shard: string, run: HandOver): Promise<void> {
  const now = Date.now();
  for await (const page of listShard(context, shard, now)) {
    for (let start = 0; start < page.length; start += maxMessages) {
      if (Date.now() > context.deadline - reservedMs) return;
      const keys = page.slice(start, start + maxMessages);
      run.due += keys.length;
      run.oldestMs = Math.max(run.oldestMs, ...keys.map(({ since }) => now - Date.parse(since)));
      run.handed += await handOver(context, keys);
    }
  }
}

async function handOver(context: Context, keys: readonly DueKey[]): Promise<number> {
  const records = await readDue(context, keys);
  const written = await Promise.all(records.map((record) => postpone(context, record)));
  const taken = records.filter((_, place) => written[place]);
  if (taken.length > 0) await enqueue(context, ...taken);
  return taken.length;
}
