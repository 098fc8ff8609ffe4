import type { Context } from '../context.ts';
import type { Changes } from '../store/items.ts';
import { update } from '../store/write.ts';
import { minuteOf } from '../windows.ts';
import { type AccountRecord, adding, keyOfAccount, pastCounters } from './account.ts';

interface Settlement {
  caller: string;
  /** When the attempt began. */
  at: number;
  /** The reservation, and the part of it that stays counted. */
  ceiling: number;
  credits: number;
  /** Rejected tasks don't count. */
  isTask: boolean;
}

/**
 * Turns what was reserved into what the task cost. To be called once, after the usage record is known to say so; if the
 * store does not answer, closing the minute makes up for it. The account is as it is afterwards.
 */
export async function settle(
  context: Context,
  { caller, at, ceiling, credits, isTask }: Settlement,
  seen: AccountRecord,
): Promise<AccountRecord | undefined> {
  const changes: Changes<AccountRecord> = {
    ...pastCounters(seen, Date.now()),
    ...adding(at, { credits: credits - ceiling, tasks: isTask ? 0 : -1, running: -1 }),
  };
  const result = await update<AccountRecord>(context, keyOfAccount(caller), changes, [
    [`tasks@${minuteOf(at)}`, 'exists'],
  ]);
  return result.written ? result.item : result.found;
}
