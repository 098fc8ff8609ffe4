import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { decide } from '../store/decide.ts';
import { onRevision, typedRead } from '../store/items.ts';
import { type Key, nodeKey, numbersKey } from '../store/keys.ts';
import { putting } from '../store/write.ts';
import { dayMs, dayOf } from '../windows.ts';

/**
 * The numbers of a node, which no endpoint sets. They are an item next to its record, so their changes affect
 * neither its ETag nor the stream's output.
 */
export interface NumbersRecord extends Key {
  revision: number;
  changed_at?: string;
  repo_stars?: number;
  rating?: number;
  /** A total from the administration, shown instead of the counted one. */
  downloads?: number;
  /** Counted downloads by UTC day and version, for the days that may still change. */
  recent?: Record<string, Record<string, number>>;
  /** By version, before those days. */
  before?: Record<string, number>;
  /** All versions together, by day, for 90 days. */
  days?: Record<string, number>;
}

export const numbersRecord = typedRead<NumbersRecord>();

export interface Numbers {
  repo_stars?: number;
  rating?: number;
  downloads?: number;
  downloads_90_days?: number;
  downloads_by_day?: Record<string, number>;
  versions: Record<string, number>;
}

export const publicDays = 90;

/** Days, with today, that are added up again: logs may be a day late, or more after a failure. */
export const openDays = 8;

export function dayBefore(days: number, now = Date.now()): string {
  return dayOf(now - days * dayMs);
}

export function numbersOf(record: NumbersRecord | undefined, now = Date.now()): Numbers {
  const { repo_stars, rating, downloads, recent = {}, before = {}, days } = record ?? {};
  const versions: Record<string, number> = { ...before };
  for (const counts of Object.values(recent))
    for (const [version, amount] of Object.entries(counts))
      versions[version] = (versions[version] ?? 0) + amount;
  const first = dayBefore(publicDays - 1, now);
  const shown = Object.entries(days ?? {}).filter(([day]) => day >= first);
  const total = downloads ?? (days && sum(Object.values(versions)));
  return {
    ...(repo_stars !== undefined && { repo_stars }),
    ...(rating !== undefined && { rating }),
    ...(total !== undefined && { downloads: total }),
    ...(days && {
      downloads_90_days: sum(shown.map(([, amount]) => amount)),
      downloads_by_day: Object.fromEntries(shown.sort()),
    }),
    versions,
  };
}

/** The record with these counts for the open days. Counts of days that are now closed move to `before`. */
export function withCounts(
  record: NumbersRecord,
  counted: ReadonlyMap<string, ReadonlyMap<string, number>>,
  now = Date.now(),
): NumbersRecord {
  const firstOpen = dayBefore(openDays - 1, now);
  const before = { ...record.before };
  const recent: NonNullable<NumbersRecord['recent']> = {};
  for (const [day, versions] of Object.entries(record.recent ?? {})) {
    if (day >= firstOpen) recent[day] = versions;
    else
      for (const [version, amount] of Object.entries(versions))
        before[version] = (before[version] ?? 0) + amount;
  }
  for (const [day, versions] of counted) if (day >= firstOpen) recent[day] = Object.fromEntries(versions);
  const days = { ...record.days };
  for (const [day, versions] of Object.entries(recent)) days[day] = sum(Object.values(versions));
  const first = dayBefore(publicDays - 1, now);
  return {
    ...record,
    before,
    recent,
    days: Object.fromEntries(Object.entries(days).filter(([day]) => day >= first)),
  };
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** Replaces a node's numbers. Returns when they last changed; undefined if there is no such node. */
export function changeNumbers(
  context: Context,
  nodeId: string,
  change: (record: NumbersRecord) => NumbersRecord,
): Promise<string | undefined> {
  const key = numbersKey(nodeId);
  return decide(context, { first: { node: nodeKey(nodeId), item: key } }, ({ node, item }, { now }) => {
    if (!node) return { result: undefined };
    const current = numbersRecord(item);
    const next = change(current ?? { ...key, revision: 0 });
    if (isDeepStrictEqual(next, current)) return { result: next.changed_at };
    const changed_at = new Date(now).toISOString();
    const changed = { ...next, revision: next.revision + 1, changed_at };
    return { writes: [putting<NumbersRecord>(changed, onRevision(current))], result: changed_at };
  });
}
