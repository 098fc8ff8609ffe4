import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import * as config from '../config.ts';
import { type Changes, type Clause, IfAbsent, Plus } from '../store/items.ts';
import { get } from '../store/read.ts';
import { UnansweredError, untilWritten } from '../store/dynamodb.ts';
import { updating, writeOne, type WriteResult } from '../store/write.ts';
import { dayOf, secondsLeft, type WindowKind } from '../windows.ts';
import { shardOf } from '../work/lanes.ts';
import {
  type AccountRecord,
  accountRecord,
  type CallerLimits,
  type Counted,
  counted,
  counterName,
  dueAt,
  entryName,
  entryOf,
  keyOfAccount,
  limitsOf,
  openReservations,
  pastCounters,
  rateLimitFields,
  type Reservation,
  reservationOf,
} from './account.ts';
import type { AttemptRecord } from './attempt.ts';
import { isUnlisted, unlisted } from './proxy-access.ts';

export interface Reserved {
  /** The account after the write. */
  account: AccountRecord;
  n: number;
}

/**
 * The limits of callers that have their own, as this process last saw them. They may be stale, so each write
 * names the limits that it is based on: a block or another limit takes effect when it is stored.
 */
const seenLimits = new Map<string, CallerLimits>();
const maxSeenLimits = 1000;

/** A store that loses more answers in a row is down. */
const maxReservations = 3;

/**
 * Reserves the ceiling of a task with one write that succeeds only if no limit is exceeded. If its answer is lost, the
 * next try is another reservation.
 */
export async function reserve(context: Context, attempt: AttemptRecord): Promise<Reserved> {
  const { caller } = attempt;
  for (let n = 0; ; n += 1) {
    const reservation = reservationOf({ ...attempt, n });
    try {
      return { account: await reserveOnce(context, caller, reservation), n };
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      await giveBack(context, caller, reservation);
      if (n === maxReservations - 1) throw error;
    }
  }
}

/** So that a request doesn't compete with itself. A reservation that is stored later is left to the visit. */
async function giveBack(context: Context, caller: string, reservation: Reservation): Promise<void> {
  const account = { ...keyOfAccount(caller), caller, revision: 0 };
  await settle(context, account, reservation, { credits: 0, isTask: false }).catch(() => undefined);
}

function reserveOnce(context: Context, caller: string, reservation: Reservation): Promise<AccountRecord> {
  const key = keyOfAccount(caller);
  return untilWritten(context, async () => {
    const own = seenLimits.get(key.pk);
    const result = isHopeless(reservation, own)
      ? { written: false as const, found: accountRecord((await get(context, key))[0]) }
      : await tryReserve(context, caller, reservation, own);
    if (result.written) return result.item;
    remember(key.pk, result.found?.limits);
    const error = rejectionOf(result.found ?? { ...key, caller, revision: 0 }, reservation);
    if (error) throw error;
    return undefined;
  });
}

function tryReserve(
  context: Context,
  caller: string,
  reservation: Reservation,
  own: CallerLimits | undefined,
): Promise<WriteResult<AccountRecord>> {
  const { at, ceiling } = reservation;
  const limits = limitsOf(own);
  const name = entryName(reservation);
  const condition: Clause<AccountRecord>[] = [
    own ? [['limits', 'id'], '=', own.id] : ['limits', 'absent'],
    [name, 'absent'],
    ['open', 'absent or <=', config.spending().OPEN_ATTEMPTS - 1],
  ];
  const changes: Changes<AccountRecord> = {
    caller,
    open: new Plus(1),
    // An index is written again for each change of its keys.
    pending_shard: new IfAbsent(shardOf('visit', keyOfAccount(caller), '')),
    pending_since: new IfAbsent(dueAt(at)),
  };
  changes[name] = entryOf(reservation);
  for (const each of counted) {
    const amount = each.counter === 'credits' ? ceiling : 1;
    changes[counterName(each, at)] = new Plus(amount);
    if (limits[each.limit] > 0)
      condition.push([counterName(each, at), 'absent or <=', limits[each.limit] - amount]);
  }
  const reserving = updating<AccountRecord>(keyOfAccount(caller), changes, condition);
  return writeOne(context, reserving, { isRepeatable: false });
}

/** Under these limits, no state of the account lets the task through. */
function isHopeless({ ceiling }: Reservation, own: CallerLimits | undefined): boolean {
  const { credits_per_day } = limitsOf(own);
  return isUnlisted(own) || (credits_per_day > 0 && ceiling > credits_per_day);
}

function remember(pk: string, own: CallerLimits | undefined): void {
  if (seenLimits.size >= maxSeenLimits) seenLimits.clear();
  if (own && !own.blocked) seenLimits.set(pk, own);
  else seenLimits.delete(pk);
}

/** Why an account rejects a task, or anything in a minute; undefined if it doesn't. */
export function rejectionOf(
  account: AccountRecord,
  { at, ceiling }: Pick<Reservation, 'at' | 'ceiling'>,
  only?: WindowKind,
): ApiError | undefined {
  if (account.limits?.blocked) return new ApiError('caller_blocked');
  if (isUnlisted(account.limits)) return new ApiError('forbidden', { message: unlisted });
  const fields = rateLimitFields(account, at);
  const limits = limitsOf(account.limits);
  if (limits.credits_per_day > 0 && ceiling > limits.credits_per_day) {
    const message = `This task may cost ${inCredits(ceiling)}, which is more than the ${limits.credits_per_day} of a whole day.`;
    return new ApiError('budget_exhausted', { message, headers: fields });
  }
  if ((account.open ?? 0) >= config.spending().OPEN_ATTEMPTS)
    return new ApiError('too_many_requests', {
      message: manyOpen,
      headers: { ...fields, 'retry-after': String(waitFor(1)) },
      reason: 'open-attempts',
    });
  const spread = waitFor(0);
  const full = counted.flatMap((each) => {
    if (only !== undefined && each.window !== only) return [];
    const amount = each.counter === 'credits' ? ceiling : 1;
    const left = limits[each.limit] - (account[counterName(each, at)] ?? 0);
    if (limits[each.limit] === 0 || amount <= left) return [];
    const isHeld = amount <= left + heldOf(account, each, at);
    return [{ ...each, left, isHeld, wait: spread + (isHeld ? 1 : secondsLeft(each.window, at)) }];
  });
  const [first] = full;
  if (!first) return undefined;
  const exhausted = full.find(({ window, isHeld }) => window === 'day' && !isHeld);
  return new ApiError(exhausted ? 'budget_exhausted' : 'too_many_requests', {
    ...(exhausted?.counter === 'credits' && { message: leftMessage(ceiling, exhausted.left) }),
    ...(!exhausted && first.isHeld && { message: heldMessage }),
    headers: {
      ...rateLimitFields(account, at, Object.fromEntries(full.map(({ limit, wait }) => [limit, wait]))),
      'retry-after': String(Math.max(...full.map(({ wait }) => wait))),
    },
    reason: first.policy,
  });
}

/** By then a task that runs now has ended, and its price has replaced its reservation. */
const spreadSeconds = 30;

/** A random wait of at least this many seconds, so that rejected callers don't all come back together. */
export function waitFor(leastSeconds: number): number {
  return leastSeconds + Math.floor(Math.random() * spreadSeconds);
}

function leftMessage(ceiling: number, left: number): string {
  return `This task may cost ${inCredits(ceiling)}, and this caller’s budget for today has ${inCredits(Math.max(0, left))} left. It starts over at midnight UTC.`;
}

function inCredits(count: number): string {
  return count === 1 ? '1 credit' : `${count} credits`;
}

const heldMessage =
  'Running tasks of this caller hold the rest of its budget until their cost is known; try again when Retry-After has passed.';

const manyOpen =
  'As many requests of this caller as may be open at once are waiting for their provider; try again when Retry-After has passed.';

/** The most that open attempts may give back of a limit. A request stays counted with any result. */
function heldOf(account: AccountRecord, { counter }: Counted, at: number): number {
  if (counter === 'requests') return 0;
  const open = openReservations(account).filter((each) => dayOf(each.at) === dayOf(at));
  return open.reduce((sum, { ceiling }) => sum + (counter === 'credits' ? ceiling : 1), 0);
}

/**
 * Replaces a reservation by the cost of its ended attempt, once. Returns the account after the write, or as it is if
 * this was done before.
 */
export async function settle(
  context: Context,
  seen: AccountRecord,
  reservation: Reservation,
  { credits, isTask, isListed = false }: { credits: number; isTask: boolean; isListed?: boolean },
): Promise<AccountRecord | undefined> {
  const name = entryName(reservation);
  const day = dayOf(reservation.at);
  const changes: Changes<AccountRecord> = {
    ...pastCounters(seen, Date.now()),
    ...(isListed && { listed: day }),
    open: new Plus(-1),
  };
  changes[name] = null;
  changes[`credits:${day}`] = new Plus(credits - reservation.ceiling);
  changes[`tasks:${day}`] = new Plus(isTask ? 0 : -1);
  const result = await writeOne(context, updating(seen, changes, [[name, 'exists']]));
  return result.written ? result.item : result.found;
}
