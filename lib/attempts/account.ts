import { callerHash } from '../caller.ts';
import * as config from '../config.ts';
import { typedRead } from '../store/items.ts';
import { accountKey, type Key } from '../store/keys.ts';
import { dayMs, dayOf, minuteOf, secondsLeft, type WindowKind, windowSeconds } from '../windows.ts';
import type { Owing } from '../work/lanes.ts';
import type { AttemptRecord } from './attempt.ts';

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
/** How many requests a minute had, with any result. */
type Minutes = Record<`requests@${number}`, number>;
/** An open reservation: when its attempt began, in eight digits, and its ceiling, both in base 36. */
type Entries = Record<EntryName, string>;

type EntryName = `o@${string}`;

/** One item contains everything that a reservation depends on, so one conditional write decides it. */
export interface AccountRecord
  extends Pick<Owing, 'pending_shard' | 'pending_since' | 'tries' | 'last_error'>,
    Key,
    Partial<Days & Minutes & Entries> {
  caller: string;
  revision: number;
  limits?: CallerLimits;
  /** The number of entries: a condition can't count them. */
  open?: number;
  /** The last day whose list of callers contains this one. */
  listed?: string;
}

export const accountRecord = typedRead<AccountRecord>();

export function keyOfAccount(caller: string): Key {
  return accountKey(callerHash(caller));
}

/** Longer than any request, by two clocks that differ by ten minutes. */
export const leaseMs = 12 * 60 * 1000;

/** When an account owes a visit: when the lease of its oldest attempt is over, in whole minutes. */
export function dueAt(at: number): string {
  const minuteMs = 60 * 1000;
  return new Date(Math.ceil((at + leaseMs) / minuteMs) * minuteMs).toISOString().slice(0, 16);
}

/** One reservation of an attempt that began at a time. */
export interface Reservation {
  id: string;
  n: number;
  at: number;
  ceiling: number;
}

export function reservationOf({ sk, n, at, ceiling }: AttemptRecord): Reservation {
  return { id: sk.slice(sk.indexOf('#') + 1), n, at: Date.parse(at), ceiling };
}

export function entryName({ id, n }: Pick<Reservation, 'id' | 'n'>): EntryName {
  return `o@${id}.${n}`;
}

const timeDigits = 8;

export function entryOf({ at, ceiling }: Reservation): string {
  return at.toString(36).padStart(timeDigits, '0') + ceiling.toString(36);
}

/** The open reservations of an account, the oldest first. */
export function openReservations(account: AccountRecord): Reservation[] {
  return Object.entries(account)
    .filter(([name]) => name.startsWith('o@'))
    .map(([name, value]) => {
      const [id = '', n] = name.slice(2).split('.');
      const [time, ceiling] = [String(value).slice(0, timeDigits), String(value).slice(timeDigits)];
      return { id, n: Number(n), at: Number.parseInt(time, 36), ceiling: Number.parseInt(ceiling, 36) };
    })
    .sort((a, b) => a.at - b.at);
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
 * set limit, with the wait of one that rejects.
 */
export function rateLimitFields(
  account: AccountRecord,
  time = Date.now(),
  waits: Partial<Limits> = {},
): Record<string, string> {
  const limits = limitsOf(account.limits);
  const set = counted.filter(({ limit }) => limits[limit] > 0);
  if (set.length === 0) return {};
  const policies = set.map(
    ({ limit, policy, window }) => `"${policy}";q=${limits[limit]};w=${windowSeconds(window)}`,
  );
  const states = set.map((each) => {
    const left = Math.max(0, limits[each.limit] - (account[counterName(each, time)] ?? 0));
    return `"${each.policy}";r=${left};t=${waits[each.limit] ?? secondsLeft(each.window, time)}`;
  });
  return { 'ratelimit-policy': policies.join(', '), ratelimit: states.join(', ') };
}

/**
 * The counters of past windows. They go with the next write, or an account would grow without bound. Clocks that are
 * ahead have a margin: a day for days, longer than any attempt of it stays open, and two minutes for minutes, of which
 * more would fill the account.
 */
export function pastCounters(seen: AccountRecord, now: number): Record<string, null> {
  const past = Object.keys(seen).filter((name) => {
    const [counter, window = ''] = name.split(/[:@]/);
    if (counter === 'requests') return Number(window) < minuteOf(now) - 2;
    return (counter === 'credits' || counter === 'tasks') && window < dayOf(now - dayMs);
  });
  return Object.fromEntries(past.map((name) => [name, null]));
}
