import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { type Changes, type Clause, Plus } from '../store/expressions.ts';
import { get } from '../store/read.ts';
import { untilWritten } from '../store/retries.ts';
import { update } from '../store/write.ts';
import {
  type AccountRecord,
  accountRecord,
  type Counted,
  counted,
  counterName,
  holdsOf,
  keyOfAccount,
  limitsOf,
  shardOf,
  type Terms,
} from './account.ts';
import { rateLimitFields } from './rate-limit-fields.ts';
import { timeOf } from './settle.ts';
import { dayOf, secondsLeft } from '../windows.ts';

export interface Reservation {
  caller: string;
  /** The time and the random id that name the attempt. */
  attempt: string;
  at: number;
  /** The most credits that the task may cost; undefined where nobody has said. */
  ceiling: number | undefined;
  context: Context;
}

/**
 * The terms of callers that have some of their own, as this process saw them last. They may be out of date, so each
 * write says which ones it knows: a block or another limit counts from the moment in which it is stored.
 */
const seenTerms = new Map<string, Terms>();
const maxSeenTerms = 1000;

/**
 * Reserves what a task may cost, by one write that holds only while no limit is passed. The hold that it leaves is
 * also how a write that was sent twice recognizes itself.
 */
export async function reserve(reservation: Reservation): Promise<AccountRecord> {
  const { caller, attempt, at, ceiling, context } = reservation;
  const key = keyOfAccount(caller);
  return untilWritten(context, async () => {
    const terms = seenTerms.get(key.pk);
    const found = canPass(reservation, terms)
      ? await tryReserve(reservation, terms)
      : accountRecord((await get(context, key))[0]);
    if (found && `hold:${attempt}` in found) return found;
    remember(key.pk, found?.terms);
    const account = found ?? { ...key, caller, revision: 0 };
    if (account.terms?.blocked) throw new ApiError('caller_blocked', { payment: 'refused' });
    const error = refusal(account, at, ceiling);
    if (error) throw error;
    return undefined;
  });
}

/** The account as it is afterwards, with the hold, or as it was when the condition did not hold. */
async function tryReserve(
  { caller, attempt, at, ceiling = 0, context }: Reservation,
  terms: Terms | undefined,
): Promise<AccountRecord | undefined> {
  const limits = limitsOf(terms);
  const hold = `hold:${attempt}` as const;
  const changes: Changes<AccountRecord> = {
    caller,
    pending_shard: shardOf(caller),
    // Only the day: an index is written again for each change of its keys.
    pending_since: dayOf(at),
  };
  changes[hold] = ceiling;
  const condition: Clause<AccountRecord>[] = [
    [hold, 'absent'],
    terms ? [['terms', 'id'], '=', terms.id] : ['terms', 'absent'],
  ];
  for (const each of counted) {
    const amount = each.counter === 'credits' ? ceiling : 1;
    changes[counterName(each, at)] = new Plus(amount);
    if (limits[each.limit] > 0)
      condition.push([counterName(each, at), 'at most', limits[each.limit] - amount]);
  }
  const result = await update<AccountRecord>(context, keyOfAccount(caller), changes, condition);
  return result.written ? result.item : result.found;
}

/** Whether there is a state of the account that lets the task through, under these terms. */
function canPass({ ceiling }: Reservation, terms: Terms | undefined): boolean {
  const { credits_per_day } = limitsOf(terms);
  return credits_per_day === 0 || (ceiling !== undefined && ceiling <= credits_per_day);
}

function remember(pk: string, terms: Terms | undefined): void {
  if (seenTerms.size >= maxSeenTerms) seenTerms.clear();
  if (terms && !terms.blocked) seenTerms.set(pk, terms);
  else seenTerms.delete(pk);
}

/** Why an account does not let a task through; undefined where it does. */
function refusal(account: AccountRecord, at: number, ceiling: number | undefined): ApiError | undefined {
  const fields = rateLimitFields(account, at);
  const limits = limitsOf(account.terms);
  if (limits.credits_per_day > 0 && (ceiling === undefined || ceiling > limits.credits_per_day)) {
    const message =
      ceiling === undefined
        ? 'This caller has a budget, and the operator has not said what this task may cost.'
        : `This task may cost ${ceiling} credits, which is more than the ${limits.credits_per_day} of a whole day.`;
    return new ApiError('budget_exhausted', { message, headers: fields, payment: 'refused' });
  }
  const full = counted.flatMap((each) => {
    const amount = each.counter === 'credits' ? (ceiling ?? 0) : 1;
    const left = limits[each.limit] - (account[counterName(each, at)] ?? 0);
    if (limits[each.limit] === 0 || amount <= left) return [];
    const isHeld = amount <= left + heldOf(account, each, at);
    const untilOver = secondsLeft(each.window, at);
    return [{ ...each, isHeld, wait: isHeld ? Math.min(maxHoldSeconds, untilOver) : untilOver }];
  });
  const [first] = full;
  if (!first) return undefined;
  const isUsedUp = full.some(({ window, isHeld }) => window === 'day' && !isHeld);
  return new ApiError(isUsedUp ? 'budget_exhausted' : 'too_many_requests', {
    ...(!isUsedUp && first.isHeld && { message: heldMessage }),
    headers: { ...fields, 'retry-after': String(Math.max(...full.map(({ wait }) => wait))) },
    reason: first.policy,
    payment: 'refused',
  });
}

/** No invocation lives longer, so by then each hold of a running task has become what the task cost. */
const maxHoldSeconds = 30;

const heldMessage =
  'Running tasks of this caller hold the rest of its budget until their cost is known; try again when Retry-After has passed.';

/** What the holds of an account take of a limit: a request stays counted whatever becomes of it. */
function heldOf(account: AccountRecord, { counter }: Counted, at: number): number {
  if (counter === 'requests') return 0;
  const holds = holdsOf(account).filter(({ attempt }) => dayOf(timeOf(attempt)) === dayOf(at));
  return holds.reduce((sum, { ceiling }) => sum + (counter === 'credits' ? ceiling : 1), 0);
}
