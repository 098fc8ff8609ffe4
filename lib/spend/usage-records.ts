import { callerHash } from '../caller.ts';
import type { Context } from '../context.ts';
import type { ErrorCode, Payment } from '../errors.ts';
import type { TaskState } from '../schemas/video.ts';
import { absent, type Changes, type Condition, typedRead } from '../store/items.ts';
import { attemptOf, dayCallerKey, idempotencyKey, type Key, taskKey, usageKey } from '../store/keys.ts';
import { put, update } from '../store/write.ts';
import { dayOf } from '../windows.ts';
import { get } from '../store/read.ts';

/** The parts of a paid request that its price may depend on. */
export interface Task {
  operation: string;
  model?: string | undefined;
  seconds?: number | undefined;
  /** Key frames, for a task that has several. */
  frames?: number | undefined;
}

/** One attempt to buy something, kept for as long as a provider's bill may be disputed. */
export interface UsageRecord extends Key, Task {
  at: string;
  caller: string;
  request_id: string;
  /** The SHA-256 that the response is kept under, if the request had an Idempotency-Key. */
  key_hash?: string | undefined;
  /** Identifies the task, if its provider notifies this service of its states. */
  task_hash?: string | undefined;
  /** Whether it bought something; `reserved` before that is known. */
  state: 'reserved' | Payment;
  /** The error that the caller got if the task was not taken, unless the function died first. */
  code?: ErrorCode;
  /** The counted credits: the reserved ceiling until the price is known, then the price. */
  credits: number;
  /** Whether the provider, or for relight the configuration, named the price. */
  is_exact?: boolean;
  /** A price from a notification, or from a reply with unknown outcome, which counts if above the ceiling. */
  credits_told?: number;
  task_id?: string;
  /** How long the provider took. */
  ms?: number;
  completed_at?: string;
  /** The sweep concluded the result from other records. The request itself may still replace it. */
  is_swept?: boolean;
  /** Counts the writes after the first. */
  revision?: number;
  /** The reservation of a record that the sweep concluded. */
  ceiling?: number;
  /** How the task ended, and when, from the provider's notifications; see lib/notifications. */
  final_state?: TaskState;
  final_at?: string;
  /** The final state is an assumption: no report about the task came for seven days. */
  given_up?: boolean;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

export const usageRecord = typedRead<UsageRecord>();

/** The known cost of an attempt. An unknown outcome counts in full, even if its price becomes known later. */
export function priceOf({ state, credits, credits_told }: UsageRecord): number {
  return state === 'unknown' ? (credits_told ?? credits) : credits;
}

export const keptForDays = 400;

/** The time when an attempt began, and the id in all records of its request, identify it. */
export interface BegunAttempt {
  caller: string;
  at: number;
  id: string;
}

/** The name of an attempt's record within its caller. */
export function usageName({ at, id }: Omit<BegunAttempt, 'caller'>): string {
  return `${new Date(at).toISOString()}#${id}`;
}

function keyOfUsage(attempt: BegunAttempt): Key {
  return usageKey(callerHash(attempt.caller), usageName(attempt));
}

interface Opened extends Task {
  attempt: BegunAttempt;
  requestId: string;
  keyHash: string | undefined;
  taskHash?: string | undefined;
  ceiling: number;
}

function openRecord({
  attempt,
  operation,
  model,
  seconds,
  frames,
  requestId,
  keyHash,
  taskHash,
  ceiling,
}: Opened): UsageRecord {
  return {
    ...keyOfUsage(attempt),
    at: new Date(attempt.at).toISOString(),
    caller: attempt.caller,
    operation,
    model,
    seconds,
    frames,
    request_id: requestId,
    key_hash: keyHash,
    task_hash: taskHash,
    state: 'reserved',
    credits: ceiling,
    ttl: ttlOf(attempt.at),
  };
}

function ttlOf(at: number): number {
  return Math.ceil(at / 1000) + keptForDays * 24 * 60 * 60;
}

/** Call before anything is sent. */
export async function openUsage(context: Context, opened: Opened): Promise<void> {
  const { written } = await put(context, openRecord(opened), absent);
  if (!written) throw new Error('The usage record of this attempt already exists.');
}

export type UsageResult = Pick<UsageRecord, 'state' | 'credits'> &
  Pick<
    Changes<UsageRecord>,
    'is_exact' | 'credits_told' | 'task_id' | 'ms' | 'code' | 'is_swept' | 'ceiling'
  >;

/** Records an attempt's result once, replacing a sweep's conclusion. Returns false if recorded before. */
export async function completeUsage(
  context: Context,
  attempt: BegunAttempt,
  result: UsageResult,
  isOpen: Condition<UsageRecord> = { anyOf: [[['state', '=', 'reserved']], [['is_swept', '=', true]]] },
): Promise<boolean> {
  const changes = { is_swept: null, ceiling: null, ...result, completed_at: new Date().toISOString() };
  return (await update<UsageRecord>(context, keyOfUsage(attempt), changes, isOpen)).written;
}

/**
 * The same for an attempt that was not sent, because its record may not have been stored. Writes the whole
 * record: the lost write of the open one may still arrive, and then finds this one in its place.
 */
export async function rejectUsage(context: Context, opened: Opened, code: ErrorCode): Promise<void> {
  const rejected = { state: 'rejected', credits: 0, is_exact: true, code } as const;
  const record: UsageRecord = {
    ...openRecord(opened),
    ...rejected,
    completed_at: new Date().toISOString(),
  };
  await put(context, record, { anyOf: [[['pk', 'absent']], [['state', '=', 'reserved']]] });
}

/** The outcome of the attempt that holds an Idempotency-Key. lib/requests/idempotency-key.ts writes it. */
export interface KeyOutcome extends Key {
  /** The attempt that holds the key. */
  attempt: string;
  state: 'running' | 'sent' | 'answered' | 'unknown';
  /** From the response: its task, and the price if the provider gave one. */
  task_id?: string;
  credits?: number;
}

/** The same for a task whose provider notifies this service. lib/requests/relay.ts writes it. */
interface TaskOutcome extends Key {
  payment?: 'taken' | 'unknown';
  task_id?: string;
  credits?: number;
}

const keyOutcome = typedRead<KeyOutcome>();
const taskOutcome = typedRead<TaskOutcome>();

/** The record of a task is kept longer. */
const taskKeptMs = 7 * 24 * 60 * 60 * 1000;

const notSent: UsageResult = { state: 'rejected', credits: 0, is_exact: true };

/**
 * The result of an attempt whose usage record doesn't have it, from two other records: the kept response of
 * its Idempotency-Key, and the record of its task. A request is sent only after both are known to be stored.
 */
export async function keptOutcome(
  context: Context,
  { sk, at, key_hash, task_hash }: UsageRecord,
  ceiling: number,
): Promise<UsageResult> {
  const attempt = attemptOf({ sk });
  const keys = [key_hash && idempotencyKey(key_hash), task_hash && taskKey(task_hash)];
  const found = await get(context, ...keys.filter((key) => typeof key === 'object'));
  const kept = keyOutcome(found.find((item) => item?.attempt === attempt && item.sk === 'ANSWER'));
  const task = taskOutcome(found.find((item) => item?.sk === 'TASK'));
  if (kept?.state === 'running') return notSent;
  const isKept = Date.now() - Date.parse(at) < taskKeptMs;
  if (task_hash !== undefined && task === undefined && isKept) return notSent;
  const told = [kept?.state === 'answered' ? kept : undefined, task].find(
    (each) => each?.task_id !== undefined,
  );
  const isTaken = told !== undefined && (told === kept || task?.payment === 'taken');
  const { task_id, credits } = told ?? {};
  const named = task_id === undefined ? {} : { task_id };
  if (isTaken)
    return { state: 'taken', credits: credits ?? ceiling, is_exact: credits !== undefined, ...named };
  const priced = credits === undefined ? {} : { credits_told: credits };
  return { state: 'unknown', credits: ceiling, is_exact: false, ...named, ...priced };
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
  await put<DayCallerRecord>(context, { ...key, caller, ttl: ttlOf(at) }, absent);
}
