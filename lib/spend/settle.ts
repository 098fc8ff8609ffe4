import type { Context } from '../context.ts';
import { Plus } from '../store/expressions.ts';
import { update } from '../store/write.ts';
import { type AccountRecord, counterName, keyOfAccount } from './account.ts';
import { dayOf, minuteOf } from '../windows.ts';

interface Settlement {
  caller: string;
  attempt: string;
  /** What was reserved, and what of it stays counted. */
  ceiling: number;
  credits: number;
  /** A task that was refused is none. */
  isTask: boolean;
  context: Context;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Turns a hold into what the task cost. The hold goes with the same write, so that doing it twice does it once. The
 * account is as it is afterwards; undefined where there is none.
 */
export async function settle(
  { caller, attempt, ceiling, credits, isTask, context }: Settlement,
  seen?: AccountRecord,
): Promise<AccountRecord | undefined> {
  const hold = `hold:${attempt}` as const;
  const at = timeOf(attempt);
  const changes = {
    ...pastCounters(seen, Date.now()),
    [counterName({ counter: 'credits', window: 'day' }, at)]: new Plus(credits - ceiling),
    ...(!isTask && { [counterName({ counter: 'tasks', window: 'day' }, at)]: new Plus(-1) }),
    [hold]: null,
  };
  const result = await update<AccountRecord>(context, keyOfAccount(caller), changes, [[hold, 'exists']]);
  return result.written ? result.item : result.found;
}

export function timeOf(attempt: string): number {
  return Date.parse(attempt.slice(0, attempt.indexOf('#')));
}

/** Counters of windows that no running request counts in any more. They go, or an account would grow for ever. */
function pastCounters(seen: AccountRecord | undefined, now: number): Record<string, null> {
  const oldest: Record<string, string> = {
    credits: dayOf(now - dayMs),
    tasks: dayOf(now - dayMs),
    warned: dayOf(now - dayMs),
    requests: minuteOf(now - 2 * 60 * 1000),
  };
  const past = Object.keys(seen ?? {}).filter((name) => {
    const [counter = '', ...window] = name.split(':');
    return window.length > 0 && window.join(':') < (oldest[counter] ?? '');
  });
  return Object.fromEntries(past.map((name) => [name, null]));
}
