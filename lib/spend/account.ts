import { callerHash } from '../caller.ts';
import * as config from '../config.ts';
import { dueShard } from '../store/due.ts';
import { type Changes, Plus, typedRead } from '../store/items.ts';
import { accountKey, type Key } from '../store/keys.ts';
import { dayOf, minuteOf, secondsLeft, startOfMinute, type WindowKind, windowSeconds } from '../windows.ts';

/*
 * A caller's spending is stored in two places. The *ledger* has one usage record for each attempt to buy
 * something (usage-records.ts). The *account* is one small item whose sums are compared with the limits: for
 * each UTC day the credits and tasks, and for each open *minute* the part of them that belongs to the
 * attempts begun in it. The account doesn't list attempts, so its size depends on the number of open minutes,
 * not of tasks.
 *
 * Invariant: at every moment, an open minute counts at least the sum of the usage records of its attempts,
 * and a day counts its open minutes and the records of its closed minutes. A reservation is made only if the
 * day stays within the limit with it, so the records of a day never pass the limit, as long as no task costs
 * more than its ceiling.
 *
 *   reserve    adds the ceiling to the day and to the minute, in one conditional write
 *   record     writes the usage record with the ceiling; from here on the record holds the reservation
 *   (send)
 *   complete   writes the price into the record
 *   settle     adds the difference between price and ceiling, which is at most 0, to the day and to the minute
 *   close      later, adds the difference between the minute's records and the minute to the day, and removes the minute
 *
 * Each step begins after the previous one is known to be stored, and an addition that may have been applied
 * is never sent again. If an invocation dies, or a write is lost, at any step, the minute counts too much,
 * never too little:
 *
 *   after reserve     a ceiling without a record: closing gives it back
 *   after record      the record is still `reserved`: closing checks the Idempotency-Key's kept response. Without one
 *                     the attempt becomes `unknown`, which keeps the ceiling
 *   after complete    a ceiling instead of the price: closing gives back the rest
 *
 * Settling also subtracts the attempt from `running` in the same write, so a minute without running attempts
 * is exact. A minute is closed when its youngest attempt is four minutes old (sweep-spending.ts). An
 * invocation ends within half a minute, so none is alive if the clocks of machines differ by less than three
 * minutes. A closed minute never opens again (`closed`), not even by a write that the store applies late, and
 * settling needs an open one. A minute that was closed with unsettled attempts is checked again ten minutes
 * later (`late_`): by then a record that was stored late is there, and a request that was alive, because a
 * clock was wrong, has completed its own. An attempt on a machine whose clock is slower than that counts as
 * begun in the first minute that isn't closed.
 */

/** The limits of a caller. 0 means no limit. */
export interface Limits {
  credits_per_day: number;
  tasks_per_day: number;
  requests_per_minute: number;
}

export type LimitName = keyof Limits;

/** The limits that an administrator gave a caller. */
export interface CallerLimits {
  /** Changes on every update, so that a write can detect stale limits. */
  id: string;
  /** The limits that differ from the defaults. */
  values: Partial<Limits>;
  /** When, and why. */
  blocked?: { at: string; reason: string };
}

/** The sums of a day. */
type Days = Record<`credits:${string}` | `tasks:${string}`, number>;
/** The same of an open minute, by minutes since the epoch. */
type Minutes = Record<`credits@${number}` | `tasks@${number}`, number>;
/** How many requests a minute had, with any result, and how many of its attempts aren't settled yet. */
type Moments = Record<`requests@${number}` | `running@${number}`, number>;
/** The sums of a minute that was closed with unsettled attempts, until the second check. */
type LateMinutes = Record<`late_credits@${number}` | `late_tasks@${number}`, number>;
/** The percentage of a day's budget that was used when its caller was last warned. */
type Warnings = Record<`warned:${string}`, number>;

/** One item contains everything that a reservation depends on, so one conditional write decides it. */
export interface AccountRecord extends Key, Partial<Days & Minutes & LateMinutes & Moments & Warnings> {
  caller: string;
  revision: number;
  limits?: CallerLimits;
  /** The last minute that was closed. */
  closed?: number;
  /** The last day whose list of callers certainly contains this one. */
  listed?: string;
  /** Lists an account with open minutes for the sweep, by the first one. */
  pending_shard?: string;
  pending_since?: string;
}

export const accountRecord = typedRead<AccountRecord>();

export function keyOfAccount(caller: string): Key {
  return accountKey(callerHash(caller));
}

export function shardOf(caller: string): string {
  return dueShard('spending', callerHash(caller));
}

/** A caller's limits, with the stage's defaults. */
export function limitsOf(own?: CallerLimits): Limits {
  const { CREDITS_PER_DAY, TASKS_PER_DAY, REQUESTS_PER_MINUTE } = config.spending();
  const defaults = {
    credits_per_day: CREDITS_PER_DAY,
    tasks_per_day: TASKS_PER_DAY,
    requests_per_minute: REQUESTS_PER_MINUTE,
  };
  return { ...defaults, ...own?.values };
}

/** The unit of each limit, in the order of the response headers. */
export const counted = [
  { limit: 'credits_per_day', policy: 'credits-per-day', window: 'day', counter: 'credits' },
  { limit: 'tasks_per_day', policy: 'tasks-per-day', window: 'day', counter: 'tasks' },
  { limit: 'requests_per_minute', policy: 'requests-per-minute', window: 'minute', counter: 'requests' },
] as const satisfies { limit: LimitName; policy: string; window: WindowKind; counter: string }[];

export type Counted = (typeof counted)[number];

/** The attribute that counts for a limit at a time. */
export function counterName({ counter }: Counted, time: number) {
  return counter === 'requests'
    ? (`requests@${minuteOf(time)}` as const)
    : (`${counter}:${dayOf(time)}` as const);
}

/**
 * The rest of a caller's budget, as the fields of draft-ietf-httpapi-ratelimit-headers: one member for each
 * set limit.
 */
export function rateLimitFields(account: AccountRecord, time = Date.now()): Record<string, string> {
  const limits = limitsOf(account.limits);
  const set = counted.filter(({ limit }) => limits[limit] > 0);
  if (set.length === 0) return {};
  const policies = set.map(
    ({ limit, policy, window }) => `"${policy}";q=${limits[limit]};w=${windowSeconds(window)}`,
  );
  const states = set.map((each) => {
    const left = Math.max(0, limits[each.limit] - (account[counterName(each, time)] ?? 0));
    return `"${each.policy}";r=${left};t=${secondsLeft(each.window, time)}`;
  });
  return { 'ratelimit-policy': policies.join(', '), ratelimit: states.join(', ') };
}

/** Adds the reservation, or settlement, of an attempt to the day and minute in which it began. */
export function adding(
  at: number,
  { credits, tasks, running }: { credits: number; tasks: number; running: number },
): Changes<AccountRecord> {
  const [day, minute] = [dayOf(at), minuteOf(at)];
  return {
    [`credits:${day}`]: new Plus(credits),
    [`credits@${minute}`]: new Plus(credits),
    [`tasks:${day}`]: new Plus(tasks),
    [`tasks@${minute}`]: new Plus(tasks),
    [`running@${minute}`]: new Plus(running),
  };
}

/** The minutes that an account counts separately, in order. */
export function openMinutes(account: AccountRecord): number[] {
  return minutesOf(account, 'tasks@');
}

/** The closed minutes that are due for a second check, in order. */
export function lateMinutes(account: AccountRecord): number[] {
  return minutesOf(account, 'late_tasks@');
}

function minutesOf(account: AccountRecord, prefix: string): number[] {
  const names = Object.keys(account).filter((name) => name.startsWith(prefix));
  return names.map((name) => Number(name.slice(prefix.length))).sort((a, b) => a - b);
}

/** The day of a minute: everything about an attempt is counted by its minute. */
export function dayOfMinute(minute: number): string {
  return dayOf(startOfMinute(minute));
}

/** A minute as `pending_since` stores it. */
export function minuteText(minute: number): string {
  return new Date(startOfMinute(minute)).toISOString().slice(0, 16);
}

/**
 * The counters of past windows. They go with the next write, or an account would grow without bound. Only the
 * sweep closes minutes and removes their sums.
 */
export function pastCounters(seen: AccountRecord | undefined, now: number): Record<string, null> {
  const yesterday = dayOf(now - 24 * 60 * 60 * 1000);
  const past = Object.keys(seen ?? {}).filter((name) => {
    const [, day] = /^(?:credits|tasks|warned):(.*)$/.exec(name) ?? [];
    if (day !== undefined) return day < yesterday;
    const [, minute] = /^requests@(\d+)$/.exec(name) ?? [];
    return minute !== undefined && Number(minute) < minuteOf(now) - 2;
  });
  return Object.fromEntries(past.map((name) => [name, null]));
}
