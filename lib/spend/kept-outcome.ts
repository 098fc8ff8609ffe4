import type { Context } from '../context.ts';
import { idempotencyKey, type Key, ticketKey, attemptOf } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { typedRead } from '../store/items.ts';
import type { UsageRecord, UsageResult } from './usage-records.ts';

/** The outcome of the attempt that holds an Idempotency-Key, from its record. lib/requests/idempotency-key.ts writes it. */
export interface KeyOutcome extends Key {
  /** The attempt that holds the key. */
  attempt: string;
  state: 'running' | 'sent' | 'answered' | 'unknown';
  /** Of an answer: the task that it names, and its price if the provider told one. */
  task_id?: string;
  credits?: number;
}

/** The same of a task whose provider notifies this service. lib/requests/relay.ts writes it. */
interface TaskOutcome extends Key {
  payment?: 'taken' | 'unknown';
  task_id?: string;
  credits?: number;
}

const keyOutcome = typedRead<KeyOutcome>();
const taskOutcome = typedRead<TaskOutcome>();

/** The record of a task is kept longer. */
const taskKeptMs = 7 * 24 * 60 * 60 * 1000;

const notSent: UsageResult = { state: 'refused', credits: 0, is_exact: true };

/**
 * How an attempt ended whose usage record does not say it, as far as two other records do: the kept answer of its
 * Idempotency-Key, and the record of its task. A request is sent only after both are known to be stored.
 */
export async function keptOutcome(
  context: Context,
  { sk, at, key_hash, ticket_hash }: UsageRecord,
  ceiling: number,
): Promise<UsageResult> {
  const attempt = attemptOf({ sk });
  const keys = [key_hash && idempotencyKey(key_hash), ticket_hash && ticketKey(ticket_hash)];
  const found = await get(context, ...keys.filter((key) => typeof key === 'object'));
  const kept = keyOutcome(found.find((item) => item?.attempt === attempt && item.sk === 'ANSWER'));
  const task = taskOutcome(found.find((item) => item?.sk === 'TASK'));
  if (kept?.state === 'running') return notSent;
  const isKept = Date.now() - Date.parse(at) < taskKeptMs;
  if (ticket_hash !== undefined && task === undefined && isKept) return notSent;
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
