import type { AttemptRecord } from '../attempts/attempt.ts';
import { maxDelaySeconds, queueAt } from '../aws/queue.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { isObject } from '../json.ts';
import { dueShard, notDue } from '../store/due.ts';
import type { Changes, Condition } from '../store/items.ts';
import { type Key, taskHashOf } from '../store/keys.ts';
import { get, readAll } from '../store/read.ts';
import { update } from '../store/write.ts';
import type { DeliveryResult } from './deliver-once.ts';
import {
  keysOfNotification,
  type NotificationRecord,
  notificationRecord,
  readAttempt,
  type TaskRecord,
  taskRecord,
  ttlFrom,
} from './records.ts';

/*
 * A notification's record contains the work, and stays in the index `pending` until its delivery has ended. A
 * queue message sets only the time: it names the notification and the try, so a repeated or late message
 * finds its try made. A try begins with one conditional write that counts it, before anything is
 * sent: no two invocations make the same try, and after a crash the notification is sent again with the
 * same ID.
 */

const sendMessages = queueAt(() => config.notificationQueue().NOTIFICATION_QUEUE_URL);

export interface QueuedAttempt {
  /** The notification. */
  id: string;
  /** The number of tries begun before. */
  tries: number;
}

interface NewAttempt extends QueuedAttempt {
  caller_hash: string;
  delaySeconds?: number;
}

/** Sends up to ten messages; throws unless the queue accepts all of them. */
export function enqueue(context: Context, ...messages: NewAttempt[]): Promise<void> {
  return sendMessages(
    context,
    messages.map(({ id, tries, caller_hash, delaySeconds = 0 }) => ({
      body: { id, tries },
      group: caller_hash,
      delaySeconds,
    })),
  );
}

export function readMessage(body: string): QueuedAttempt {
  const content: unknown = JSON.parse(body);
  const { id, tries } = isObject(content) ? content : {};
  if (typeof id !== 'string' || !Number.isSafeInteger(tries))
    throw new Error('A queue message does not name a try.');
  return { id, tries: Number(tries) };
}

/** From each try to the next: 5 s, 30 s, 5 min, 30 min, 2 h, 6 h, 12 h. */
const waitSeconds = [5, 30, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600, 12 * 3600];
const maxTries = waitSeconds.length + 1;

/** A message this late counts as lost. The queue may lag that much, and its alarm fires then. */
export const lostAfterMs = 10 * 60_000;

/** The fields of a notification that the queue needs. */
const handedFields = ['pk', 'sk', 'id', 'caller_hash', 'tries', 'pending_since', 'result'];

export async function readDue(context: Context, keys: readonly Key[]): Promise<NotificationRecord[]> {
  const found = await readAll(context, keys, { fields: handedFields });
  return found.map((item) => notificationRecord(item)).filter(({ result }) => result === 'pending');
}

/** Lists the record for later, unless it has changed since it was read. */
export async function postpone(context: Context, record: NotificationRecord): Promise<boolean> {
  const changes = { pending_since: timestamp(Date.now() + lostAfterMs) };
  const condition: Condition<NotificationRecord> = [
    ...ofTry(record.tries),
    ['pending_since', '=', record.pending_since],
  ];
  return (await update<NotificationRecord>(context, record, changes, condition)).written;
}

/** Lists the record for the next run: its message could not be sent. */
export async function makeDueNow(context: Context, record: Key): Promise<void> {
  await update<NotificationRecord>(context, record, { pending_since: timestamp(Date.now()) }, ofTry(0));
}

interface Waiting {
  waiting: NotificationRecord;
  task: TaskRecord | undefined;
  attempt: AttemptRecord | undefined;
}

/** The notification, if the message's try is still to be made, its task, and the attempt that bought it. */
export async function readWaiting(
  context: Context,
  { id, tries }: { id: string; tries: number },
): Promise<Waiting | undefined> {
  const keys = keysOfNotification(id);
  if (!keys) return undefined;
  const [notification, task] = await get(context, ...keys);
  const waiting = notificationRecord(notification);
  if (waiting?.result !== 'pending' || waiting.tries !== tries) return undefined;
  const known = taskRecord(task);
  return { waiting, task: known, attempt: known && (await readAttempt(context, known)) };
}

/** The record, if this invocation makes the try; `exhausted` if no try is left. */
export async function beginAttempt(
  context: Context,
  { pk, sk, tries }: NotificationRecord,
): Promise<NotificationRecord | 'exhausted' | undefined> {
  if (tries >= maxTries) return (await giveUp(context, { pk, sk }, tries, {})) ? 'exhausted' : undefined;
  const changes = { tries: tries + 1 };
  const result = await update<NotificationRecord>(context, { pk, sk }, changes, ofTry(tries));
  return result.written ? result.item : undefined;
}

/** The result of a try. `again` is the time of the next one. */
export type Conclusion =
  | { outcome: 'delivered' | 'gone' | 'failed' }
  | { outcome: 'again'; waitSeconds: number };

/** Records the result of a try. A delivered notification stays delivered if another try fails. */
export async function conclude(
  context: Context,
  record: NotificationRecord,
  result: DeliveryResult,
): Promise<Conclusion> {
  if (result.outcome !== 'failed') {
    await end(context, record, result.outcome, { last_status: result.status, last_error: null });
    return { outcome: result.outcome };
  }
  const { error, status, isHopeless } = result;
  const why = { last_error: error, last_status: status ?? null };
  const wait = isHopeless ? undefined : waitAfter(record.tries);
  if (wait === undefined) {
    await giveUp(context, record, record.tries, why);
    return { outcome: 'failed' };
  }
  // The queue can't wait longer, so the record does: the first run after that time queues the notification.
  const marginMs = wait <= maxDelaySeconds ? lostAfterMs : 0;
  const changes = { ...why, pending_since: timestamp(Date.now() + wait * 1000 + marginMs) };
  await update<NotificationRecord>(context, record, changes, ofTry(record.tries));
  return { outcome: 'again', waitSeconds: wait };
}

type Why = Pick<Changes<NotificationRecord>, 'last_error' | 'last_status'>;

export async function end(
  context: Context,
  record: NotificationRecord,
  result: 'delivered' | 'gone' | 'shown',
  why: Why,
): Promise<void> {
  const now = Date.now();
  const changes = {
    ...why,
    ...notDue,
    result,
    ttl: ttlFrom(now),
    ...(result === 'delivered' && { delivered_at: timestamp(now) }),
  };
  const condition: Condition<NotificationRecord> = [
    ['result', 'exists'],
    ['result', '<>', 'delivered'],
  ];
  await update<NotificationRecord>(context, record, changes, condition);
}

/** In whole seconds, up to a fifth earlier: notifications that failed together must not return together. */
function waitAfter(tries: number): number | undefined {
  const wait = waitSeconds[tries - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 - Math.random() / 5));
}

/** No other try has begun since, and the delivery hasn't ended. */
function ofTry(tries: number) {
  return [
    ['result', '=', 'pending'],
    ['tries', '=', tries],
  ] satisfies Condition<NotificationRecord>;
}

/** It stays listed, separate from due records, until its record expires. */
async function giveUp(context: Context, key: Key, tries: number, why: Why): Promise<boolean> {
  const now = Date.now();
  const listed = {
    pending_shard: dueShard('failed-notifications', taskHashOf(key)),
    pending_since: timestamp(now),
  };
  const changes = { ...why, ...listed, result: 'failed' as const, ttl: ttlFrom(now) };
  return (await update<NotificationRecord>(context, key, changes, ofTry(tries))).written;
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
