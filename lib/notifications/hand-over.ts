import type { Context } from '../context.ts';
import { log } from '../log.ts';
import { type DueKey, duePages } from '../store/due.ts';
import { maxMessages } from '../aws/queue.ts';
import { postpone, readDue } from './outbox.ts';
import { enqueue } from './queue.ts';
import { loadSigningKeys } from './signing-keys.ts';

interface HandOver {
  due: number;
  handed: number;
  unread_shards: number;
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
export async function handOverDue(context: Context): Promise<void> {
  const run: HandOver = { due: 0, handed: 0, unread_shards: 0, oldestMs: 0, errors: [] };
  // Receivers need the public key before the first notification, and a missing key must show here.
  const work = [loadSigningKeys(context), handOverPages(context, run)];
  for (const result of await Promise.allSettled(work))
    if (result.status === 'rejected') run.errors.push(result.reason);
  const { oldestMs, errors, ...counts } = run;
  log('info', 'hand_over', { ...counts, interrupted: errors.length, oldest_due_ms: oldestMs });
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} steps of the run failed.`);
}

async function handOverPages(context: Context, run: HandOver): Promise<void> {
  const now = Date.now();
  const hasTime = () => Date.now() <= context.deadline - reservedMs;
  const due = {
    work: 'notifications',
    period: { from: 0, to: now },
    order: 'oldest first',
    hasTime,
  } as const;
  for await (const page of duePages(context, due, run)) {
    run.due += page.length;
    run.oldestMs = Math.max(run.oldestMs, ...page.map(({ since }) => now - Date.parse(since)));
    const batches = Array.from({ length: Math.ceil(page.length / maxMessages) }, (_, place) =>
      page.slice(place * maxMessages, (place + 1) * maxMessages),
    );
    for (const result of await Promise.allSettled(batches.map((batch) => handOver(context, batch))))
      if (result.status === 'fulfilled') run.handed += result.value;
      else run.errors.push(result.reason);
  }
}

async function handOver(context: Context, keys: readonly DueKey[]): Promise<number> {
  const records = await readDue(context, keys);
  const written = await Promise.all(records.map((record) => postpone(context, record)));
  const taken = records.filter((_, place) => written[place]);
  if (taken.length > 0) await enqueue(context, ...taken);
  return taken.length;
}
