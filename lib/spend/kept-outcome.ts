import type { Context } from '../context.ts';
import { idempotencyKey, type Key } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { typedRead } from '../store/items.ts';
import type { UsageResult } from './usage-records.ts';

/** The outcome of the attempt that holds an Idempotency-Key, from its record. lib/requests/idempotency-key.ts writes it. */
export interface KeyOutcome extends Key {
  /** The attempt that holds the key. */
  attempt: string;
  state: 'running' | 'sent' | 'answered' | 'unknown';
  /** Of an answer: the task that it names, and its price if the provider told one. */
  task_id?: string;
  credits?: number;
}

const keyOutcome = typedRead<KeyOutcome>();

/**
 * How an attempt ended whose usage record does not say it, as far as the kept answer of its Idempotency-Key does. A
 * request is sent only after its key is known to be marked so.
 */
export async function keptOutcome(
  context: Context,
  keyHash: string | undefined,
  { id, ceiling }: { id: string; ceiling: number },
): Promise<UsageResult> {
  const unknown = { state: 'unknown', credits: ceiling, is_exact: false } as const;
  if (keyHash === undefined) return unknown;
  const kept = keyOutcome((await get(context, idempotencyKey(keyHash)))[0]);
  if (kept?.attempt !== id) return unknown;
  if (kept.state === 'running') return { state: 'refused', credits: 0, is_exact: true };
  if (kept.state !== 'answered' || kept.task_id === undefined) return unknown;
  return {
    state: 'taken',
    credits: kept.credits ?? ceiling,
    is_exact: kept.credits !== undefined,
    task_id: kept.task_id,
  };
}
