import type { Key } from '../store/keys.ts';
import { type Lane, type LaneName, lanes, type Owing, shardOf } from './lanes.ts';

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
