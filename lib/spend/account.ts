import { callerHash } from '../caller-hash.ts';
import { accountKey, type Key } from '../store/keys.ts';
import { typedRead } from '../store/typed-read.ts';
import { defaultLimits, type LimitName, type Limits } from './limits.ts';
import { dayOf, minuteOf, type WindowKind } from '../windows.ts';

/** What administrators decided about a caller. */
export interface Terms {
  /** Changes with every change, so that a write can tell whether it knows the terms that are in force. */
  id: string;
  /** What differs from the defaults. */
  limits: Partial<Limits>;
  /** Since when, and why. */
  blocked?: { at: string; reason: string };
}

type Counters = Record<`credits:${string}` | `tasks:${string}` | `requests:${string}`, number>;
/** What an attempt may still cost, by the attempt. */
type Holds = Record<`hold:${string}`, number>;
/** How many percent of a day's budget were used when its caller was last warned. */
type Warnings = Record<`warned:${string}`, number>;

/** All that a reservation depends on is in one item, so that one conditional write decides it. */
export interface AccountRecord extends Key, Partial<Counters & Holds & Warnings> {
  caller: string;
  revision: number;
  terms?: Terms;
  /** Lists the account for the sweep. */
  pending_shard?: string;
  pending_since?: string;
}

export const accountRecord = typedRead<AccountRecord>();

export function keyOfAccount(caller: string): Key {
  return accountKey(callerHash(caller));
}

/** The shards of the index `pending` that list accounts; versions that wait for an upload have others. */
export const accountShards = [...'0123456789abcdef'].map((digit) => `spend-${digit}`);

export function shardOf(caller: string): string {
  return `spend-${callerHash(caller).slice(0, 1)}`;
}

export function limitsOf(terms: Terms | undefined): Limits {
  return { ...defaultLimits(), ...terms?.limits };
}

/** What each limit counts, in the order in which callers are told. */
export const counted = [
  { limit: 'credits_per_day', policy: 'credits-per-day', window: 'day', counter: 'credits' },
  { limit: 'tasks_per_day', policy: 'tasks-per-day', window: 'day', counter: 'tasks' },
  { limit: 'requests_per_minute', policy: 'requests-per-minute', window: 'minute', counter: 'requests' },
] as const satisfies { limit: LimitName; policy: string; window: WindowKind; counter: string }[];

export type Counted = (typeof counted)[number];

/** The attribute that counts for a limit at a time. */
export function counterName({ counter, window }: Pick<Counted, 'counter' | 'window'>, time: number) {
  return `${counter}:${window === 'day' ? dayOf(time) : minuteOf(time)}` as const;
}

/** The holds of an account, by attempt. */
export function holdsOf(account: AccountRecord): { attempt: string; ceiling: number }[] {
  return Object.entries(account).flatMap(([name, ceiling]) =>
    name.startsWith('hold:') ? [{ attempt: name.slice('hold:'.length), ceiling: Number(ceiling) }] : [],
  );
}
