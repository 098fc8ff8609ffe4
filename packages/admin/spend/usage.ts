import { callerHash } from '../../../lib/caller-hash.ts';
import { type UsageRecord, usageRecord } from '../../../lib/spend/usage-records.ts';
import { usagePartition } from '../../../lib/store/keys.ts';
import { listItems } from '../registry/administration.ts';

const shards = [...'0123456789abcdef'];
const dayMs = 24 * 60 * 60 * 1000;

interface Period {
  /** The first and the last day, such as `2026-11-21`. */
  from: string;
  to: string;
  caller?: string | undefined;
}

/** The usage records of some days, of one caller or of all, in the order of their times. */
export async function listUsage({ from, to, caller }: Period): Promise<UsageRecord[]> {
  const sk = caller === undefined ? '' : `${callerHash(caller)}#`;
  const records: UsageRecord[] = [];
  for (const day of daysBetween(from, to)) {
    const shardsOfDay = shards.map((shard) => listItems({ pk: usagePartition(day, shard), sk }));
    records.push(...(await Promise.all(shardsOfDay)).flat().map((item) => usageRecord(item)));
  }
  return records.sort((a, b) => a.at.localeCompare(b.at));
}

function daysBetween(from: string, to: string): string[] {
  const first = Date.parse(from);
  const count = Math.floor((Date.parse(to) - first) / dayMs) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    new Date(first + index * dayMs).toISOString().slice(0, 10),
  );
}

/** What usage records are summed up by. */
export const groupings = ['caller', 'operation', 'model', 'day', 'final_state'] as const;
export type Grouping = (typeof groupings)[number];

export interface UsageSum {
  group: Record<string, string>;
  tasks: number;
  credits: number;
  /** Attempts of which it is unknown whether they were taken; their credits are counted in full. */
  unknown: number;
  refused: number;
}

export function sumUsage(records: readonly UsageRecord[], by: readonly Grouping[]): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const record of records) {
    const group = Object.fromEntries(by.map((name) => [name, groupValue(record, name)]));
    const key = JSON.stringify(group);
    const sum = sums.get(key) ?? { group, tasks: 0, credits: 0, unknown: 0, refused: 0 };
    sums.set(key, sum);
    if (record.state === 'taken') sum.tasks += 1;
    else if (record.state === 'refused') sum.refused += 1;
    else sum.unknown += 1;
    sum.credits += record.credits;
  }
  return [...sums.values()].sort((a, b) => b.credits - a.credits);
}

function groupValue(record: UsageRecord, name: Grouping): string {
  return name === 'day' ? record.at.slice(0, 10) : (record[name] ?? '');
}
