import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type DueWork, dueShards } from '../../lib/store/due.ts';
import { usagePartitions } from '../../lib/store/keys.ts';
import { unitsPerSecond } from '../local/dynamodb-units.ts';
import type { Counted } from './counted-calls.ts';
import { sumOf } from './journal.ts';
import { loggedKilobytes, prices } from './prices.ts';

const { functions, provider } = parse(readFileSync('serverless.yml', 'utf8'), {
  logLevel: 'silent',
  merge: true,
});

const heading = ['Call or event', 'Reads, writes', 'Dollars a million', 'First ceiling of a key, a second'];

/** The table of docs/capacity.md: one row for each kind of call, and one for kinds that count the same. */
export function capacityTable(all: readonly Counted[]): string {
  const rows = Map.groupBy(all.map(rowOf), ([, ...cells]) => cells.join('|'));
  const lines = [...rows.values()].map(([first = [], ...others]) => {
    const names = [first, ...others].map(([name]) => name).join('; ');
    return [names, ...first.slice(1)];
  });
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return [line(heading), `|${'---|'.repeat(heading.length)}\n`, ...lines.map(line)].join('');
}

/** A document with its table renewed. */
export function withCapacityTable(document: string, table: string): string {
  return document.replace(/^\| Call or event .*\n(?:\|.*\n)+/m, () => table);
}

function rowOf(counted: Counted): string[] {
  const { name, counts, isRequest, queueReads, ms } = counted;
  const average = (part: (count: Counted['counts'][number]) => number) =>
    rounded(sumOf(counts.map(part)) / counts.length);
  const [reads, writes] = [average((count) => count.reads), average((count) => count.writes)];
  const memory = functions[counted.function]?.memorySize ?? provider.memorySize;
  const compute = prices.invocation + (memory / 1024) * ms * 1000 * prices.gigabyteSecond;
  const table = reads * prices.readUnit + writes * prices.writeUnit;
  const other =
    (isRequest ? prices.gatewayRequest : 0) +
    loggedKilobytes * prices.logs +
    average((count) => count.puts) * prices.put +
    average((count) => count.gets) * prices.get +
    (average((count) => count.messages) + queueReads) * prices.queueRequest;
  return [
    name,
    `${shown(reads)}, ${shown(writes)}`,
    (compute + table + other).toFixed(2),
    isRequest || queueReads > 0 ? ceilingOf(counted) : '',
  ];
}

/** Of a hundred calls at once, one may be sent twice. */
function rounded(value: number): number {
  return value >= 100 ? Number(value.toPrecision(2)) : value;
}

function shown(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The work that calls of a function list in the index `pending`. */
const listing: Record<string, DueWork> = {
  publishNodeVersion: 'uploads',
  receiveNotification: 'notifications',
  deliverNotifications: 'notifications',
};

/** How often a second DynamoDB takes such a call, by the keys that all of them share and that are used most. */
function ceilingOf({ function: name, counts }: Counted): string {
  const ceilings = (['reads', 'writes'] as const).flatMap((kind) => {
    const calls = counts.map(({ partitions }) => bySpreading(partitions[kind]));
    const shared = [...(calls[0]?.keys() ?? [])].filter((key) => calls.every((call) => call.has(key)));
    return shared.map((key) => {
      const units = sumOf(calls.map((call) => call.get(key) ?? 0)) / calls.length;
      return { owner: ownerOf(key), perSecond: (partitionsOf(key) * unitsPerSecond[kind]) / units };
    });
  });
  const work = listing[name] ?? 'spending';
  const indexed = sumOf(counts.map(({ indexWrites }) => indexWrites)) / counts.length;
  if (indexed > 0)
    ceilings.push({ owner: 'in all', perSecond: (dueShards(work).length * unitsPerSecond.writes) / indexed });
  const [least] = ceilings.sort((a, b) => a.perSecond - b.perSecond);
  return least ? `${thousands(Math.floor(least.perSecond))} ${least.owner}` : 'none';
}

/** Usage records are spread by chance, so two calls of a caller may have different partitions of the same ones. */
const spread = /^(USAGE#.+)#\d$/;

function bySpreading(units: ReadonlyMap<string, number>): Map<string, number> {
  const keys = Map.groupBy(units.keys(), (key) => key.replace(spread, '$1#'));
  const unitsOf = (key: string) => units.get(key) ?? 0;
  return new Map([...keys].map(([key, partitions]) => [key, sumOf(partitions.map(unitsOf))]));
}

function partitionsOf(key: string): number {
  return /^USAGE#.+#$/.test(key) ? usagePartitions('', '').length : 1;
}

function thousands(value: number): string {
  return value.toLocaleString('en-US');
}

const owners: [start: RegExp, owner: string][] = [
  [/^(?:CALLER|USAGE)#/, 'of a caller'],
  [/^(?:PUBLISHER|PENDING)#/, 'of a publisher'],
  [/^NODE#[^#]*#/, 'of a version'],
  [/^NODE#/, 'of a node'],
];

function ownerOf(key: string): string {
  return owners.find(([start]) => start.test(key))?.[1] ?? 'of a key';
}
