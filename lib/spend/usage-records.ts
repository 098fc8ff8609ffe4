import type { Context } from '../context.ts';
import { callerHash } from '../caller-hash.ts';
import type { TaskState } from '../schemas/video.ts';
import { absent } from '../store/expressions.ts';
import { type Key, usageKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { typedRead } from '../store/typed-read.ts';
import { put, update } from '../store/write.ts';
import type { Task } from './limits.ts';
import { timeOf } from './settle.ts';

/** What became of a paid attempt: as for Payment, and before it is known. */
type UsageState = 'reserved' | 'taken' | 'refused' | 'unknown';

/** One attempt to buy something, kept for as long as a provider's bill may be disputed. */
export interface UsageRecord extends Key, Task {
  at: string;
  caller: string;
  request_id: string;
  /** The SHA-256 under which the answer is kept, where the request had an Idempotency-Key. */
  key_hash?: string | undefined;
  /** Names the task that notifies this service of its states, if it does. */
  ticket_hash?: string | undefined;
  state: UsageState;
  /** What is counted: what was reserved until it is known, then what the task cost. */
  credits: number;
  /** Whether the provider, or for relight the configuration, said what it cost. */
  is_exact?: boolean;
  task_id?: string;
  /** How long the provider took. */
  ms?: number;
  completed_at?: string;
  /** How the task ended, and when, as the provider notified this service of it; see lib/notifications. */
  final_state?: TaskState;
  final_at?: string;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

export const usageRecord = typedRead<UsageRecord>();

const keptForDays = 400;

interface Attempt extends Task {
  caller: string;
  attempt: string;
  requestId: string;
  keyHash: string | undefined;
  ticketHash?: string | undefined;
  ceiling: number;
  context: Context;
}

/** To be written before anything is sent. */
export async function openUsage(opened: Attempt): Promise<void> {
  const { caller, attempt, operation, model, seconds, requestId, ceiling, context } = opened;
  const at = timeOf(attempt);
  const record: UsageRecord = {
    ...usageKey(callerHash(caller), attempt),
    at: new Date(at).toISOString(),
    caller,
    operation,
    model,
    seconds,
    request_id: requestId,
    key_hash: opened.keyHash,
    ticket_hash: opened.ticketHash,
    state: 'reserved',
    credits: ceiling,
    ttl: Math.ceil(at / 1000) + keptForDays * 24 * 60 * 60,
  };
  await put(context, record, absent);
}

export type UsageResult = Pick<UsageRecord, 'state' | 'credits'> &
  Partial<Pick<UsageRecord, 'is_exact' | 'task_id' | 'ms'>>;

/** Says once what became of an attempt; a record that says it already, or was never written, stays as it is. */
export async function completeUsage(
  context: Context,
  caller: string,
  attempt: string,
  result: UsageResult,
): Promise<void> {
  const changes = { ...result, completed_at: new Date().toISOString() };
  await update<UsageRecord>(context, usageKey(callerHash(caller), attempt), changes, [
    ['state', '=', 'reserved'],
  ]);
}

export async function readUsage(
  context: Context,
  caller: string,
  attempt: string,
): Promise<UsageRecord | undefined> {
  const [item] = await get(context, usageKey(callerHash(caller), attempt));
  return usageRecord(item);
}
