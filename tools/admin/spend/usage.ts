import { callerHash, principalOf } from '../../../lib/caller.ts';
import {
  dayCallerRecord,
  keptForDays,
  outcomeOf,
  priceOf,
  type AttemptRecord,
  attemptRecord,
} from '../../../lib/attempts/attempt.ts';
import type { Item } from '../../../lib/store/items.ts';
import { dayCallersOf, type Key, usagePartitions } from '../../../lib/store/keys.ts';
import { query } from '../../../lib/store/read.ts';
import { newContext } from '../registry/administration.ts';

const dayMs = 24 * 60 * 60 * 1000;

export interface Selection {
  /** The first and the last day, such as `2026-11-21`. */
  from: string;
  to: string;
  caller?: string | undefined;
}

/** The usage records of some days, of one caller or all, one page at a time. Days come in order. */
export async function* usagePages({ from, to, caller }: Selection): AsyncGenerator<AttemptRecord[]> {
  for (const day of daysBetween(from, to)) {
    for (const name of caller === undefined ? await callersOf(day) : [caller]) {
      yield* together(usagePartitions(callerHash(name), day).map((pk) => pagesOf({ pk, sk: '' })));
    }
  }
}

/** A page of each partition at a time, which has some thousand records, in the order of their time. */
async function* together(partitions: readonly AsyncGenerator<Item[]>[]): AsyncGenerator<AttemptRecord[]> {
  for (;;) {
    const pages = (await Promise.all(partitions.map((each) => each.next()))).filter(({ done }) => !done);
    if (pages.length === 0) return;
    const records = pages.flatMap(({ value }) => (value as Item[]).map(attemptRecord));
    yield records.filter(({ n }) => n !== undefined).sort((a, b) => (a.sk < b.sk ? -1 : 1));
  }
}

async function callersOf(day: string): Promise<string[]> {
  const pages = dayCallersOf(day).map((shard) => Array.fromAsync(pagesOf(shard)));
  return (await Promise.all(pages)).flat(2).map((item) => dayCallerRecord(item).caller);
}

/** The deadline applies to each page. */
async function* pagesOf(below: Key): AsyncGenerator<Item[]> {
  const context = { ...newContext() };
  for await (const page of query(context, { below })) {
    yield page;
    context.deadline = newContext().deadline;
  }
}

/** Those that can have records: older ones have expired, and only a clock that is ahead writes tomorrow's. */
export function daysBetween(from: string, to: string): string[] {
  const today = Math.floor(Date.now() / dayMs);
  const first = Math.max(Date.parse(from) / dayMs, today - keptForDays);
  const last = Math.min(Date.parse(to) / dayMs, today + 1);
  const length = Math.max(0, last - first + 1);
  return Array.from({ length }, (_, index) => new Date((first + index) * dayMs).toISOString().slice(0, 10));
}

/** A user's name in log lines. */
export const principalName = /^[0-9a-f]{16}$/;

/** The caller of some days whose log lines have this principal. Reads only the names of callers. */
export async function callerOfPrincipal(
  principal: string,
  { from, to }: Selection,
): Promise<string | undefined> {
  if (!principalName.test(principal)) return undefined;
  for (const day of daysBetween(from, to))
    for (const name of await callersOf(day))
      if (name.startsWith('user:') && principalOf(name.slice('user:'.length)) === principal) return name;
  return undefined;
}

interface Wanted {
  requestId?: string | undefined;
  taskId?: string | undefined;
}

/** The first records, and whether there may be more. A page is of one caller and day. */
export async function findUsage(
  period: Selection,
  { requestId, taskId }: Wanted,
  max: number,
  maxPages = Number.POSITIVE_INFINITY,
): Promise<{ records: AttemptRecord[]; hasMore: boolean }> {
  const records: AttemptRecord[] = [];
  let pages = 0;
  for await (const page of usagePages(period)) {
    if (pages === maxPages) return { records, hasMore: true };
    pages += 1;
    for (const record of page) {
      if (requestId !== undefined && record.request_id !== requestId) continue;
      if (taskId !== undefined && record.task_id !== taskId) continue;
      if (records.length === max) return { records, hasMore: true };
      records.push(record);
    }
  }
  return { records, hasMore: false };
}

/** The fields that usage records can be summed up by. */
export const groupings = ['caller', 'operation', 'model', 'day', 'final_state'] as const;
export type Grouping = (typeof groupings)[number];

export interface UsageSum {
  group: Record<string, string>;
  tasks: number;
  credits: number;
  unknown: number;
  rejected: number;
  /** Tasks and attempts without a known end. They have a line of their own. */
  given_up?: number;
}

export async function sumUsage(period: Selection, by: readonly Grouping[]): Promise<UsageSum[]> {
  const sums = new Map<string, UsageSum>();
  for await (const page of usagePages(period)) {
    for (const record of page) {
      const group = Object.fromEntries(by.map((name) => [name, groupValue(record, name)]));
      const key = JSON.stringify([group, record.given_up]);
      const sum = sums.get(key) ?? { group, tasks: 0, credits: 0, unknown: 0, rejected: 0 };
      sums.set(key, sum);
      sum[outcomeOf(record)] += 1;
      if (record.given_up) sum.given_up = (sum.given_up ?? 0) + 1;
      sum.credits += priceOf(record);
    }
  }
  return [...sums.values()].sort((a, b) => b.credits - a.credits);
}

function groupValue(record: AttemptRecord, name: Grouping): string {
  return name === 'day' ? record.at.slice(0, 10) : (record[name] ?? '');
}
