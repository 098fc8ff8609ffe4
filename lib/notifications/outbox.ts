import type { Context } from '../context.ts';
import type { Changes, Condition } from '../store/expressions.ts';
import { type Key, keyOf, pendingIndex } from '../store/keys.ts';
import { maxBatchKeys, query, readBatches } from '../store/read.ts';
import { update } from '../store/write.ts';
import type { AttemptResult } from './attempt.ts';
import { type NotificationRecord, notificationRecord, notifyShards, ttlFrom } from './records.ts';

/*
 * Notifications wait in the table, listed in the index `pending` by the time of their next attempt. An attempt is claimed
 * before anything is sent, by one conditional write that counts it and sets the time of the one after it. So two
 * invocations never make the same attempt, and one that dies in the middle leaves a notification that is due again later:
 * it is sent again with the same id, or has been delivered and is sent again, but is never lost.
 */

/** From each attempt to the next: 24 hours from the first to the eighth. All are longer than an attempt takes. */
const waitsMs = [1, 5, 30, 2 * 60, 5 * 60, 7 * 60, 9 * 60 + 24].map((minutes) => minutes * 60_000);
const maxAttempts = waitsMs.length + 1;

/** How long the last attempt may take before it counts as lost with its invocation. */
const lastWaitMs = 60_000;

/** What was given up stays listed, apart from what is due, until its record expires. */
export const failedShard = 'notify-failed';

export interface DueKey extends Key {
  since: string;
}

/**
 * Of a waiting notification what must be known to choose it; its address and body come with the claim. It takes less than
 * a kilobyte, because a run holds everything that is due.
 */
export interface Waiting extends Pick<NotificationRecord, 'pk' | 'sk' | 'id' | 'caller_hash' | 'attempts'> {
  pending_since: string;
  host: string;
}

/** The keys of what is due, the longest due first, up to a number in each shard. */
export async function listDue(context: Context, now: number, maxPerShard: number): Promise<DueKey[]> {
  const lists = await Promise.all(notifyShards.map((shard) => listShard(context, shard, now, maxPerShard)));
  return lists.flat().sort((a, b) => (a.since < b.since ? -1 : 1));
}

export async function listShard(
  context: Context,
  shard: string,
  until: number,
  max: number,
): Promise<DueKey[]> {
  const keys: DueKey[] = [];
  const range = query(context, {
    index: pendingIndex,
    partition: ['pending_shard', shard],
    sort: ['pending_since', 'between', '0', new Date(until).toISOString()],
  });
  for await (const page of range) {
    keys.push(...page.map((item) => ({ ...keyOf(item), since: String(item.pending_since) })));
    if (keys.length >= max) break;
  }
  return keys.slice(0, max);
}

const waitingFields = ['pk', 'sk', 'id', 'caller_hash', 'address', 'attempts', 'pending_since', 'result'];

/** What is due of these, in batches. What is missing has been tried or delivered meanwhile, or waits for the next run. */
export async function* readWaiting(
  context: Context,
  keys: readonly Key[],
  consistency?: 'eventually',
): AsyncGenerator<Waiting[]> {
  const options = { fields: waitingFields, eventually: consistency === 'eventually' };
  for (let start = 0; start < keys.length; start += maxBatchKeys) {
    const batch = keys.slice(start, start + maxBatchKeys).map(keyOf);
    for await (const { items } of readBatches(context, batch, options))
      yield items
        .map((item) => notificationRecord(item))
        .filter(isDue)
        .map(toWaiting);
  }
}

/** The clock of the machine that wrote it may be ahead; the next attempt is always further away than this. */
const clockToleranceMs = 5000;

/** An event of the stream may come again after the attempt that it was for. */
function isDue(record: NotificationRecord): record is NotificationRecord & { pending_since: string } {
  const { result, pending_since } = record;
  const soon = timestamp(Date.now() + clockToleranceMs);
  return result === 'pending' && pending_since !== undefined && pending_since <= soon;
}

function toWaiting(record: NotificationRecord & { pending_since: string }): Waiting {
  const { pk, sk, id, caller_hash, attempts, pending_since, address } = record;
  return { pk, sk, id, caller_hash, attempts, pending_since, host: hostOf(address) };
}

/** No name is longer, but an address may be. */
const maxHostLength = 253;

/** The host as log lines have it: the rest of an address may be a secret. */
function hostOf(address: string): string {
  const host = URL.parse(address)?.hostname ?? '';
  // A slice would keep the whole text in memory.
  return Buffer.from(host.slice(0, maxHostLength)).toString();
}

/** The record, if this invocation is the one that makes the next attempt; `exhausted` if there is none left to make. */
export async function claim(
  context: Context,
  waiting: Waiting,
): Promise<NotificationRecord | 'exhausted' | undefined> {
  if (waiting.attempts >= maxAttempts) {
    const isEnded = await giveUp(context, waiting, waiting.attempts, {});
    return isEnded ? 'exhausted' : undefined;
  }
  const attempts = waiting.attempts + 1;
  const changes = { attempts, pending_since: timestamp(Date.now() + waitAfter(attempts)) };
  const result = await update<NotificationRecord>(context, waiting, changes, [
    ['result', '=', 'pending'],
    ['attempts', '=', waiting.attempts],
    ['pending_since', '=', waiting.pending_since],
  ]);
  return result.written ? result.item : undefined;
}

/** Up to a fifth earlier, so that what failed together does not come back together. */
function waitAfter(attempts: number): number {
  const wait = waitsMs[attempts - 1];
  return wait === undefined ? lastWaitMs : wait * (1 - Math.random() / 5);
}

/** What became of a notification after an attempt. */
export type DeliveryOutcome = 'delivered' | 'gone' | 'failed' | 'again';

/** Writes down how an attempt went. What was delivered stays so, whatever another attempt says. */
export async function conclude(
  context: Context,
  record: NotificationRecord,
  result: AttemptResult,
): Promise<DeliveryOutcome> {
  if (result.outcome !== 'failed') {
    const at = Date.now();
    const changes = {
      ...unlisted,
      result: result.outcome,
      last_status: result.status,
      last_error: null,
      ttl: ttlFrom(at),
      ...(result.outcome === 'delivered' && { delivered_at: timestamp(at) }),
    };
    const condition: Condition<NotificationRecord> = [
      ['result', 'exists'],
      ['result', '<>', 'delivered'],
    ];
    await update<NotificationRecord>(context, record, changes, condition);
    return result.outcome;
  }
  const { error, status, isHopeless } = result;
  const why = { last_error: error, last_status: status ?? null };
  if (isHopeless || record.attempts >= maxAttempts) {
    await giveUp(context, record, record.attempts, why);
    return 'failed';
  }
  await update<NotificationRecord>(context, record, why, ofAttempt(record.attempts));
  return 'again';
}

const unlisted = { pending_shard: null, pending_since: null };

/** No other attempt has been claimed since, and none has ended it. */
function ofAttempt(attempts: number): Condition<NotificationRecord> {
  return [
    ['result', '=', 'pending'],
    ['attempts', '=', attempts],
  ];
}

async function giveUp(
  context: Context,
  key: Key,
  attempts: number,
  why: Changes<NotificationRecord>,
): Promise<boolean> {
  const now = Date.now();
  const listed = { pending_shard: failedShard, pending_since: timestamp(now) };
  const changes = { ...why, ...listed, result: 'failed', ttl: ttlFrom(now) } as const;
  return (await update<NotificationRecord>(context, key, changes, ofAttempt(attempts))).written;
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
