import { providerNames } from '../config.ts';
import type { Key } from '../store/keys.ts';

/*
 * Work that waits. A lane is one kind of it, done by one function: an item owes it, by the write that makes it
 * necessary (`owe`). A message is sent at once, and names the item and its tries; the index `pending` has every item
 * that owes work, by the time to look at it, so a lost message comes again (hand-over.ts). The function reads the item,
 * counts the try in it, does the work, and says what happened (worker.ts). So work may be done twice, at the same
 * time, and late, and a handler is right anyway: messages and waits only save work.
 */

export interface Lane {
  /** The function that does it. It alone has the rights that the work needs. */
  function: string;
  /** The item that owes it. No kind of item owes two lanes. */
  item: string;
  /** Each takes 1,000 writes a second. Or one for each provider. */
  shards: number | readonly string[];
  /** How long one try may take: the function's limit, and half a minute. */
  leaseSeconds: number;
  /** From each try to the next. After the last, the work is given up. Without any, tries aren't counted. */
  waitSeconds: readonly number[];
  /** Instead, it waits as long again as it has since its item's `at`, within bounds, and at last until this age. */
  ageSeconds?: { from: number; to: number; until: number };
  /** How much of a shard is handed over in a second. */
  perSecond?: number;
  /** Until work goes on that has made progress, or waits for others. */
  moreSeconds: number;
  /** What giving up means. */
  givenUp: string;
  /** What is missing while the lane stands still. */
  without: string;
  /** An alarm fires if due work is older, or if more is given up in an hour; `visit` gives up none. */
  maxAgeSeconds: number;
  maxGivenUp?: number;
}

const minutes = 60;
const hours = 3600;

export const lanes = {
  finalize: {
    function: 'finalizeUpload',
    item: 'version that waits for its archive',
    shards: 4,
    leaseSeconds: 330,
    waitSeconds: [10, minutes, 5 * minutes, 30 * minutes, hours, 2 * hours],
    ageSeconds: { from: 30 * minutes, to: 12 * hours, until: 24 * hours },
    moreSeconds: 2,
    givenUp: 'looked at again until a day after its publish, then dropped',
    without: 'no version becomes active',
    maxAgeSeconds: 15 * minutes,
    maxGivenUp: 0,
  },
  deliver: {
    function: 'deliverNotifications',
    item: 'notification',
    shards: 4,
    leaseSeconds: 60,
    waitSeconds: [5, 30, 5 * minutes, 30 * minutes, 2 * hours, 6 * hours, 12 * hours],
    moreSeconds: 2,
    givenUp: 'kept for 14 days for `notification retry`',
    without: 'receivers and status URLs hear nothing',
    maxAgeSeconds: 15 * minutes,
    maxGivenUp: 10,
  },
  poll: {
    function: 'pollProviders',
    item: 'task without an end',
    shards: providerNames,
    leaseSeconds: 60,
    waitSeconds: [],
    ageSeconds: { from: 10 * minutes, to: 12 * hours, until: 7 * 24 * hours },
    perSecond: 5,
    moreSeconds: 2,
    givenUp: 'after seven days, the task ends as failed',
    without: "a task that isn't notified never ends",
    maxAgeSeconds: hours,
    maxGivenUp: 10,
  },
  extract: {
    function: 'extractHostNodes',
    item: 'published version',
    shards: 4,
    leaseSeconds: 80,
    waitSeconds: [30, 5 * minutes, 30 * minutes, hours, 2 * hours],
    moreSeconds: 2,
    givenUp: 'its host nodes are `failed`, until it is published again',
    without: 'host nodes stay `pending`',
    maxAgeSeconds: 2 * hours,
    maxGivenUp: 10,
  },
  visit: {
    function: 'visitAccounts',
    item: 'account with open attempts',
    shards: 4,
    leaseSeconds: 90,
    waitSeconds: [],
    moreSeconds: 2,
    givenUp: 'never',
    without: 'crashed requests hold budget',
    maxAgeSeconds: 15 * minutes,
  },
  align: {
    function: 'alignRegistry',
    item: 'node or publisher that an administrator banned or moved',
    shards: 1,
    leaseSeconds: 330,
    waitSeconds: [10, minutes, 5 * minutes, 30 * minutes, 2 * hours, 6 * hours, 12 * hours],
    moreSeconds: 10,
    givenUp: 'listed; repeat the command',
    without: 'a ban or move whose command died stays half done',
    maxAgeSeconds: 15 * minutes,
    maxGivenUp: 0,
  },
} as const satisfies Record<string, Lane>;

export type LaneName = keyof typeof lanes;

export const laneNames = Object.keys(lanes) as LaneName[];

/** An item that may owe work. The index `pending` has these fields of those that do. */
export interface Owing extends Key {
  /** `<lane>-<shard>`, or `<lane>-given-up`; absent if it owes nothing. */
  pending_shard?: string;
  /** When to look at it, or when it was given up. */
  pending_since?: string;
  /** Whose work it is: the message group, in which nobody's work delays another's. */
  group?: string;
  /** When it began, if its lane waits by its age. */
  at?: string;
  /** How many tries have begun. */
  tries?: number;
  /** Why the last try failed. */
  last_error?: string;
}

export function shardsOf(lane: LaneName): string[] {
  const { shards }: Lane = lanes[lane];
  const names = typeof shards === 'number' ? Array.from({ length: shards }, (_, index) => index) : shards;
  return names.map((name) => `${lane}-${name}`);
}

/** Always the same for an item. */
export function shardOf(lane: LaneName, { pk }: Pick<Key, 'pk'>, group: string): string {
  const { shards }: Lane = lanes[lane];
  if (typeof shards !== 'number') return `${lane}-${group}`;
  const sum = [...pk].reduce((all, character) => all + (character.codePointAt(0) ?? 0), 0);
  return `${lane}-${sum % shards}`;
}

export function givenUpShard(lane: LaneName): string {
  return `${lane}-given-up`;
}

/** Whether an item owes work in a lane, or its work there was given up. */
export function isIn(lane: LaneName, item: Owing | undefined): boolean {
  return item !== undefined && (laneOf(item) === lane || item.pending_shard === givenUpShard(lane));
}

export function laneOf({ pending_shard }: Owing): LaneName | undefined {
  return laneNames.find((lane) => pending_shard !== undefined && shardsOf(lane).includes(pending_shard));
}

/** After this, a message counts as lost, and the item is handed over again. A queue may lag that much. */
export const lostAfterMs = 10 * 60_000;

export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/**
 * The fields by which an item owes work, for the write that makes it necessary. Without a time the work begins at once,
 * by a message that is sent after the write, and the item is listed in case that is lost.
 */
export function owe(lane: LaneName, key: Key, group: string, at = Date.now() + lostAfterMs) {
  return { pending_shard: shardOf(lane, key, group), pending_since: timeText(at), group, tries: 0 };
}

/** When to look at an item again that is handed over now. */
export function nextLook(lane: LaneName, { at }: Owing, now: number): number {
  const { ageSeconds }: Lane = lanes[lane];
  if (!ageSeconds || at === undefined) return now + lostAfterMs;
  const began = Date.parse(at);
  const { from, to, until } = ageSeconds;
  const wait = Math.min(Math.max(now - began, from * 1000), to * 1000);
  return Math.min(now + wait, Math.max(now, began + until * 1000));
}

/** The changes of an item that owes nothing any more. */
export const owesNothing = { pending_shard: null, pending_since: null } as const;
