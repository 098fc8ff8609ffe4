import { maxMessages } from '../aws/queue.ts';
import type { Context } from '../context.ts';
import { type DueKey, duePages, dueShards, type Sweep } from './due.ts';

interface HandOver<Entry> extends Pick<Sweep<Entry, string>, 'work' | 'order'> {
  /** With less time left, no further page is started. */
  reservedMs: number;
  read: (keys: readonly DueKey[]) => Promise<Entry[]>;
  /** Lists an entry for later; false if it was already changed. */
  postpone: (entry: Entry) => Promise<boolean>;
  /** Sends up to ten messages. */
  enqueue: (entries: readonly Entry[]) => Promise<void>;
  onFailure: (error: unknown, entries: number) => void;
}

interface HandedOver {
  due: number;
  handed: number;
  unread_shards: number;
  /** How long the oldest entry has been due. */
  oldestMs: number;
}

/**
 * Queues due entries: those that wait longer than a queue can, or whose message was lost. Lists each entry
 * for later before its message is sent, so no run repeats an earlier one's work, and a failed entry is due
 * again. Never throws.
 */
export async function handOver<Entry>(
  context: Context,
  { work, order, reservedMs, read, postpone, enqueue, onFailure }: HandOver<Entry>,
): Promise<HandedOver> {
  const run: HandedOver = { due: 0, handed: 0, unread_shards: dueShards(work).length, oldestMs: 0 };
  const instead =
    <Value>(value: Value, entries: number) =>
    (error: unknown) => {
      onFailure(error, entries);
      return value;
    };
  const handOverBatch = async (batch: readonly Entry[]) => {
    const taken = await Promise.all(batch.map((entry) => postpone(entry).catch(instead(false, 1))));
    const entries = batch.filter((_, place) => taken[place]);
    if (entries.length === 0) return;
    const sent = await enqueue(entries).then(() => entries.length, instead(0, entries.length));
    run.handed += sent;
  };
  const now = Date.now();
  const hasTime = () => Date.now() < context.deadline - reservedMs;
  const handOverPage = async (keys: readonly DueKey[]) => {
    if (keys.length === 0) return;
    run.due += keys.length;
    run.oldestMs = Math.max(run.oldestMs, ...keys.map(({ since }) => now - Date.parse(since)));
    const entries = await read(keys).catch(instead([], keys.length));
    const batches = Array.from({ length: Math.ceil(entries.length / maxMessages) }, (_, place) =>
      entries.slice(place * maxMessages, (place + 1) * maxMessages),
    );
    await Promise.all(batches.map(handOverBatch));
  };
  try {
    const pages = duePages(context, { work, order, period: { from: 0, to: now }, hasTime });
    for await (const { keys, unreadShards } of pages) {
      await handOverPage(keys);
      run.unread_shards = unreadShards;
    }
  } catch (error) {
    onFailure(error, 1);
  }
  return run;
}
