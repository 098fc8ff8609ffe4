import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { type Changes, type Clause, IfAbsent, Plus } from '../store/items.ts';
import { get } from '../store/read.ts';
import { untilWritten } from '../store/dynamodb.ts';
import { update, updateOnce, type WriteResult } from '../store/write.ts';
import { dayOf, minuteOf, secondsLeft, startOfMinute } from '../windows.ts';
import {
  type AccountRecord,
  accountRecord,
  adding,
  type Counted,
  counted,
  counterName,
  dayOfMinute,
  keyOfAccount,
  limitsOf,
  minuteText,
  pastCounters,
  rateLimitFields,
  shardOf,
  type CallerLimits,
} from './account.ts';

interface Request {
  caller: string;
  /** The most credits that the task may cost. */
  ceiling: number;
}

interface Reserved {
  /** The account after the write. */
  account: AccountRecord;
  /** When the attempt begins, which sets the minute and the day that it counts for. */
  at: number;
}

/**
 * The limits of callers that have their own, as this process last saw them. They may be stale, so each write
 * names the limits that it is based on: a block or another limit takes effect when it is stored.
 */
const seenLimits = new Map<string, CallerLimits>();
const maxSeenLimits = 1000;

/** Reserves the ceiling of a task with one write that succeeds only if no limit is exceeded. */
export async function reserve(context: Context, request: Request): Promise<Reserved> {
  const key = keyOfAccount(request.caller);
  let at = Date.now();
  return untilWritten(context, async () => {
    const own = seenLimits.get(key.pk);
    const result = canPass(request, own)
      ? await tryReserve(context, request, at, own)
      : { written: false as const, found: accountRecord((await get(context, key))[0]) };
    if (result.written) return { account: result.item, at };
    remember(key.pk, result.found?.limits);
    at = Math.max(Date.now(), startOfMinute((result.found?.closed ?? -1) + 1));
    const account = result.found ?? { ...key, caller: request.caller, revision: 0 };
    if (account.limits?.blocked) throw new ApiError('caller_blocked');
    const error = rejection(account, at, request.ceiling);
    if (error) throw error;
    return undefined;
  });
}

function tryReserve(
  context: Context,
  { caller, ceiling }: Request,
  at: number,
  own: CallerLimits | undefined,
): Promise<WriteResult<AccountRecord>> {
  const limits = limitsOf(own);
  const minute = minuteOf(at);
  const requests: Changes<AccountRecord> = { [`requests@${minute}`]: new Plus(1) };
  const changes: Changes<AccountRecord> = {
    ...adding(at, { credits: ceiling, tasks: 1, running: 1 }),
    ...requests,
    caller,
    // An index is written again for each change of its keys.
    pending_shard: new IfAbsent(shardOf(caller)),
    pending_since: new IfAbsent(minuteText(minute)),
  };
  const condition: Clause<AccountRecord>[] = [
    own ? [['limits', 'id'], '=', own.id] : ['limits', 'absent'],
    ['closed', 'at most', minute - 1],
  ];
  for (const each of counted) {
    const amount = each.counter === 'credits' ? ceiling : 1;
    if (limits[each.limit] > 0)
      condition.push([counterName(each, at), 'at most', limits[each.limit] - amount]);
  }
  return updateOnce<AccountRecord>(context, keyOfAccount(caller), changes, condition);
}

/** Whether any state of the account could let the task through, under these limits. */
function canPass({ ceiling }: Request, own: CallerLimits | undefined): boolean {
  const { credits_per_day } = limitsOf(own);
  return credits_per_day === 0 || ceiling <= credits_per_day;
}

function remember(pk: string, own: CallerLimits | undefined): void {
  if (seenLimits.size >= maxSeenLimits) seenLimits.clear();
  if (own && !own.blocked) seenLimits.set(pk, own);
  else seenLimits.delete(pk);
}

/** Why an account rejects a task; undefined if it accepts the task. */
function rejection(account: AccountRecord, at: number, ceiling: number): ApiError | undefined {
  const fields = rateLimitFields(account, at);
  const limits = limitsOf(account.limits);
  if (limits.credits_per_day > 0 && ceiling > limits.credits_per_day) {
    const message = `This task may cost ${inCredits(ceiling)}, which is more than the ${limits.credits_per_day} of a whole day.`;
    return new ApiError('budget_exhausted', { message, headers: fields });
  }
  const full = counted.flatMap((each) => {
    const amount = each.counter === 'credits' ? ceiling : 1;
    const left = limits[each.limit] - (account[counterName(each, at)] ?? 0);
    if (limits[each.limit] === 0 || amount <= left) return [];
    const isHeld = amount <= left + heldAtMost(account, each, at);
    return [{ ...each, left, isHeld, wait: waitFor(isHeld ? 1 : secondsLeft(each.window, at)) }];
  });
  const [first] = full;
  if (!first) return undefined;
  const exhausted = full.find(({ window, isHeld }) => window === 'day' && !isHeld);
  return new ApiError(exhausted ? 'budget_exhausted' : 'too_many_requests', {
    ...(exhausted?.counter === 'credits' && { message: leftMessage(ceiling, exhausted.left) }),
    ...(!exhausted && first.isHeld && { message: heldMessage }),
    headers: { ...fields, 'retry-after': String(Math.max(...full.map(({ wait }) => wait))) },
    reason: first.policy,
  });
}

/** By then a task that runs now has ended, and its price has replaced its reservation. */
const spreadSeconds = 30;

/** A random wait of at least this many seconds, so that rejected callers don't all come back together. */
function waitFor(leastSeconds: number): number {
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

/**
 * The most that running tasks may give back of a limit. The account doesn't store each reservation, so while
 * any task runs, everything reserved or spent in its minute counts. A request stays counted with any result.
 */
function heldAtMost(account: AccountRecord, { counter }: Counted, at: number): number {
  if (counter === 'requests') return 0;
  const minutes = [minuteOf(at) - 1, minuteOf(at)].filter(
    (minute) => dayOfMinute(minute) === dayOf(at) && (account[`running@${minute}`] ?? 0) > 0,
  );
  const name = counter === 'credits' ? 'credits' : 'running';
  return minutes.reduce((sum, minute) => sum + (account[`${name}@${minute}`] ?? 0), 0);
}

interface Settlement {
  caller: string;
  at: number;
  /** The reservation, and the part of it that stays counted. */
  ceiling: number;
  credits: number;
  /** Rejected tasks don't count. */
  isTask: boolean;
}

/**
 * Replaces a reservation by the task's cost. Call it once, after the usage record is known to contain the
 * cost; if the store doesn't answer, closing the minute makes up for it. Returns the account after the write.
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
  const result = await updateOnce<AccountRecord>(context, keyOfAccount(caller), changes, [
    [`tasks@${minuteOf(at)}`, 'exists'],
  ]);
  return result.written ? result.item : result.found;
}

const warningPercents = [95, 80];

/** Notes in the log line, once a day each, that a caller has used 80 or 95 percent of a daily limit. */
export async function warnOnce(context: Context, account: AccountRecord, at: number): Promise<void> {
  const limits = limitsOf(account.limits);
  const daily = counted.filter(({ limit, window }) => window === 'day' && limits[limit] > 0);
  const used = daily.map((each) => (100 * (account[counterName(each, at)] ?? 0)) / limits[each.limit]);
  const passed = warningPercents.find((percent) => used.some((share) => share >= percent));
  const name = `warned:${dayOf(at)}` as const;
  if (passed === undefined || (account[name] ?? 0) >= passed) return;
  const { written } = await update<AccountRecord>(context, account, { [name]: passed }, [
    [name, 'at most', passed - 1],
  ]);
  if (written) note({ budget_warning: passed });
}
