import { randomBytes } from 'node:crypto';
import { downloadUrl } from '../bucket/object-keys.ts';
import { callerHash } from '../caller.ts';
import type { Context } from '../context.ts';
import type { PriceRule } from '../contract.ts';
import type { ErrorCode, Payment } from '../errors.ts';
import type { TaskState } from '../schemas/video.ts';
import { absent, type Changes, typedRead } from '../store/items.ts';
import { attemptKey, dayCallerKey, type Key } from '../store/keys.ts';
import { putting, updating, write } from '../store/write.ts';
import { dayOf } from '../windows.ts';
import { pricedTask, type Task } from './price.ts';

/*
 * A purchase. A paid task is bought at most once, no day passes its limit, and the account ends equal to its
 * attempts, whatever dies and whatever clocks say. Each step is one plain write, known to be stored before the next:
 *
 *   claim    slot: names the attempt, if no living or paid one holds the key   a death leaves a key that is free soon
 *   reserve  account: day + ceiling, entry `o@<id>.<n>`, within all limits     an entry that the visit gives back
 *   record   attempt: `sent`, naming n, unless it exists                       `unknown`, by the visit; the ceiling stays
 *   (send)
 *   end      attempt: `taken`, `rejected` or `unknown`, from `sent` alone      an attempt that the visit settles
 *   settle   account: day + price - ceiling, without the entry, if it is there
 *
 * A day counts at least what its attempts may cost. The visit meets an entry 12 minutes after it was made, so no
 * living one, even if two clocks differ by ten. Without a record, it puts a tombstone first: a late record then isn't
 * sent. Each step but the reservation may be repeated: it removes or changes what it requires. A reservation has no
 * such thing, and may arrive late, so each n is sent once; after a lost answer it is given back, n + 1 is sent, and no
 * record names the other.
 *
 * The account is its caller's one hot item, so no transaction of a request touches it (35 of 50 requests failed), its
 * entries have 24 bytes (more above 1,679,615 credits), and nothing else in it grows. Tried and rejected: sums by
 * minute, corrected later; a lease of 35 seconds (22 of 40 answered purchases lost their answer); slot and attempt in
 * one transaction (19 ms later); the task inside the attempt, whose money strangers' notifications would then write.
 */

/** When an attempt began, for which day it counts, and its short name: its account has that while it is open. */
export interface Begun {
  at: number;
  id: string;
}

/** What names an attempt, before it is known whether its request is a replay. */
export function beginAttempt(): Begun {
  return { at: Date.now(), id: randomBytes(6).toString('base64url') };
}

/** An attempt as it is recorded before it is sent. */
export function newAttempt(
  begun: Begun,
  names: Pick<AttemptRecord, 'operation' | 'caller' | 'request_id' | 'key_hash' | 'task_hash' | 'status_key'>,
  price: PriceRule,
  body: object,
): AttemptRecord {
  const task = pricedTask(names.operation, price, body);
  return {
    ...attemptKey(callerHash(names.caller), attemptName(begun)),
    at: new Date(begun.at).toISOString(),
    ...task,
    ...names,
    n: 0,
    payment: 'sent',
    credits: task.ceiling,
    ...(price.toldBy === 'rate' && { is_exact: true }),
    ttl: ttlOf(begun.at),
  };
}

/** What is kept of an attempt for as long as a provider's bill may be disputed: the usage record. */
export interface AttemptRecord extends Key, Task {
  at: string;
  caller: string;
  request_id: string;
  /** Identifies its Idempotency-Key without showing it. */
  key_hash?: string | undefined;
  /** Identifies the task, if its provider notifies this service of its states. */
  task_hash?: string | undefined;
  /** The public object that shows the task's status then. */
  status_key?: string | undefined;
  /** The reservation that it relies on: other entries of its account with its id are given back. */
  n: number;
  /** Whether it bought something; `sent` before that is known. */
  payment: 'sent' | Payment;
  /** The error that the caller got if the task was not taken, unless the function died first. */
  code?: ErrorCode | undefined;
  /** The most credits that the task may cost: the amount counted if the provider names no price. */
  ceiling: number;
  /** The counted credits: the ceiling until the price is known, then the price. */
  credits: number;
  /** Whether the provider, or for relight the configuration, named the price. */
  is_exact?: boolean;
  /** A price from a notification, or from a reply with unknown outcome, which counts if above the ceiling. */
  credits_told?: number;
  task_id?: string;
  /** How long the provider took. */
  ms?: number;
  completed_at?: string;
  /** When an administrator turned its unknown outcome into this one. */
  concluded_at?: string;
  revision?: number;
  /** The provider has said something about the task before its ID was known. */
  is_reported?: boolean | undefined;
  /** How the task ended, and when, from the provider's notifications; see lib/notifications. */
  final_state?: TaskState;
  final_at?: string;
  /** The final state is an assumption: for seven days, no report said that the task had ended. */
  given_up?: boolean;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

export const attemptRecord = typedRead<AttemptRecord>();

/** The URL of the task's public status (RFC 8288), if it has one. */
export function taskHeaders(attempt: AttemptRecord | undefined): Record<string, string> {
  const key = attempt?.status_key;
  return key === undefined ? {} : { link: `<${downloadUrl(key)}>; rel="status"` };
}

/** The known cost of an attempt. An unknown outcome counts in full, even if its price becomes known later. */
export function priceOf({ payment, credits, credits_told }: AttemptRecord): number {
  return payment === 'unknown' ? (credits_told ?? credits) : credits;
}

/** What an attempt counts as. Until an administrator concludes an unknown one, it stays so, even if it names a task. */
export function outcomeOf({ payment }: AttemptRecord): 'tasks' | 'unknown' | 'rejected' {
  if (payment === 'rejected') return 'rejected';
  return payment === 'taken' ? 'tasks' : 'unknown';
}

export const keptForDays = 400;

/** The name of an attempt's record within its caller. */
export function attemptName({ at, id }: Begun): string {
  return `${new Date(at).toISOString()}#${id}`;
}

function ttlOf(at: number): number {
  return Math.ceil(at / 1000) + keptForDays * 24 * 60 * 60;
}

/** False if a visit was faster. Then nothing may be sent. */
export async function recordSent(context: Context, attempt: AttemptRecord): Promise<boolean> {
  return write(context, putting(attempt, absent));
}

export type AttemptEnd = Pick<AttemptRecord, 'payment' | 'credits'> &
  Pick<Changes<AttemptRecord>, 'is_exact' | 'credits_told' | 'task_id' | 'ms'> & { code?: ErrorCode };

/** Ends a sent attempt once. False if it had ended before. */
export async function endAttempt(context: Context, key: Key, end: AttemptEnd): Promise<boolean> {
  const changes = { ...end, completed_at: new Date().toISOString() };
  return write(context, updating<AttemptRecord>(key, changes, [['payment', '=', 'sent']]));
}

/**
 * The same for an attempt that this process has not sent, and whose record may not be stored. Writes the whole record:
 * the lost write may still arrive, and then finds this one in its place.
 */
export async function rejectUnsent(
  context: Context,
  attempt: AttemptRecord,
  { code }: AttemptEnd,
): Promise<boolean> {
  const end = { payment: 'rejected', credits: 0, is_exact: true, code } as const;
  const record = { ...attempt, ...end, completed_at: new Date().toISOString() };
  return write(context, putting<AttemptRecord>(record, [['payment', 'absent or =', 'sent']]));
}

/** Takes the place of an attempt that was never recorded, and has no `n`. Any late write of its record fails then. */
interface Tombstone extends Key {
  payment: AttemptRecord['payment'];
  /** In seconds, for DynamoDB. */
  ttl: number;
}

/** No write is as late. */
const tombstoneSeconds = 2 * 24 * 60 * 60;

/** False if the attempt has a record, or a tombstone. */
export function bury(context: Context, key: Key): Promise<boolean> {
  const ttl = Math.ceil(Date.now() / 1000) + tombstoneSeconds;
  return write(context, putting<Tombstone>({ ...key, payment: 'rejected', ttl }, absent));
}

/** Lists a caller under a day, so that the records of the day can be found caller by caller. */
export interface DayCallerRecord extends Key {
  caller: string;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

export const dayCallerRecord = typedRead<DayCallerRecord>();

export async function recordDayCaller(context: Context, caller: string, at: number): Promise<void> {
  const key = dayCallerKey(callerHash(caller), dayOf(at));
  await write(context, putting<DayCallerRecord>({ ...key, caller, ttl: ttlOf(at) }, absent));
}
