import type { Context } from '../context.ts';
import { describeError, log, withLogFields } from '../log.ts';
import type { AttributeMap } from './items.ts';
import { type Key, keyOf, pendingIndex } from './keys.ts';
import { queryPage } from './read.ts';

/*
 * Work that is due. A record that has some stands in the index `pending`, in one of sixteen shards of its kind of work,
 * by the time since which it is due. What does the work takes the record off the index in the write that ends it, so a
 * sweep needs no memory of its own: what it did not come to, or what failed, is still there for the next one.
 */

export type DueWork = 'uploads' | 'host-nodes' | 'spending' | 'notifications';

const prefixes: Record<DueWork, string> = {
  uploads: '',
  'host-nodes': 'extract-',
  spending: 'spend-',
  notifications: 'notify-',
};
const digits = [...'0123456789abcdef'];

/** The shards of a kind of work. A record's is chosen by a hexadecimal digit that it has by chance. */
export function dueShard(work: DueWork, hash: string): string {
  return prefixes[work] + hash.slice(0, 1);
}

/** The kind of work that a record still needs; undefined if it needs none. */
export function dueWork(record: { pending_shard?: string } | undefined): DueWork | undefined {
  const shard = record?.pending_shard;
  if (shard === undefined) return undefined;
  const works = Object.keys(prefixes) as DueWork[];
  return works.find((work) => digits.some((digit) => prefixes[work] + digit === shard));
}

/** Takes a record off the index. */
export const notDue = { pending_shard: null, pending_since: null } as const;

export interface DueKey extends Key {
  since: string;
}

/** A period, in milliseconds since the epoch. */
export interface Period {
  from: number;
  to: number;
}

export interface Visited<Finding> {
  /** `unvisited`: there was no time for it. */
  finding: Finding | 'error' | 'unvisited';
  error?: unknown;
}

export interface Sweep<Entry, Finding extends string> {
  work: DueWork;
  /** The time at which it became due. */
  period: Period;
  order: 'newest first' | 'oldest first';
  visitsAtOnce: number;
  /** The records under some keys, without those that are no longer due. */
  read: (keys: readonly DueKey[]) => Promise<readonly Entry[]>;
  visit: (entry: Entry) => Promise<Finding | 'unvisited'>;
  hasTime: () => boolean;
  /** The work that is found only if an event was lost or a function died. An alarm watches its number. */
  unexpected: readonly Finding[];
  /** The entries without a line of their own. */
  quiet?: readonly Finding[];
  /** The fields that name an entry in a log line. */
  nameOf: (entry: Entry) => Record<string, unknown>;
  /** Hears of each entry in the place of the log, for a command line that lists them. */
  onVisited?: ((entry: Entry, visited: Visited<Finding>) => void) | undefined;
}

export interface SweepReport {
  findings: Record<string, number>;
  visited: number;
  failed: number;
  /** Entries that were read and not visited, and shards that were not read to their end. */
  unvisited: number;
  unread_shards: number;
}

const keysPerPage = 100;

interface Cursor {
  shard: string;
  after?: AttributeMap | undefined;
}

/**
 * The keys of what is due, a page of each shard in turn, beginning with a shard chosen by chance: a run that is out of
 * time leaves other work each time. It holds one page, however much is due.
 */
export async function* duePages(
  context: Context,
  { work, period, order, hasTime }: Pick<Sweep<unknown, string>, 'work' | 'period' | 'order' | 'hasTime'>,
  report: Pick<SweepReport, 'unread_shards'>,
): AsyncGenerator<DueKey[]> {
  const [from, to] = [new Date(period.from).toISOString(), new Date(period.to).toISOString()];
  const first = Math.floor(Math.random() * digits.length);
  let cursors: Cursor[] = digits.map((_, place) => ({
    shard: dueShard(work, digits[(first + place) % digits.length] as string),
  }));
  while (cursors.length > 0 && hasTime()) {
    const [{ shard, after }, ...others] = cursors as [Cursor, ...Cursor[]];
    const page = await queryPage(
      context,
      {
        index: pendingIndex,
        partition: ['pending_shard', shard],
        sort: ['pending_since', 'between', from, to],
        descending: order === 'newest first',
      },
      { limit: keysPerPage, after },
    );
    if (page.items.length > 0)
      yield page.items.map((item) => ({ ...keyOf(item), since: String(item.pending_since) }));
    cursors = page.last ? [...others, { shard, after: page.last }] : others;
  }
  report.unread_shards = cursors.length;
}

/** Visits what is due. One visit that fails does not stop the others. Everything may happen twice, and next to events. */
export async function sweepDue<Entry, Finding extends string>(
  context: Context,
  { period, order, visitsAtOnce, read, ...sweep }: Sweep<Entry, Finding>,
): Promise<SweepReport> {
  const { work, hasTime } = sweep;
  const report: SweepReport = { findings: {}, visited: 0, failed: 0, unvisited: 0, unread_shards: 0 };
  for await (const keys of duePages(context, { work, period, order, hasTime }, report)) {
    const left = (await read(keys)).values();
    const visitNext = async () => {
      for (const entry of left) count(report, await visitOne(entry, sweep));
    };
    await Promise.all(Array.from({ length: visitsAtOnce }, visitNext));
  }
  const counted = ['error', ...sweep.unexpected].map((finding) => report.findings[finding] ?? 0);
  const sweep_findings = counted.reduce((sum, times) => sum + times, 0);
  const sweep_unvisited = report.unvisited + report.unread_shards;
  if (!sweep.onVisited) log('info', 'sweep', { sweep: work, ...report, sweep_findings, sweep_unvisited });
  return report;
}

/** Throws if a visit failed, so that Lambda runs the sweep again. */
export function requireNoneFailed({ failed, visited }: SweepReport): void {
  if (failed > 0) throw new Error(`${failed} of ${visited} visits of the sweep failed.`);
}

async function visitOne<Entry, Finding extends string>(
  entry: Entry,
  sweep: Pick<Sweep<Entry, Finding>, 'work' | 'visit' | 'hasTime' | 'quiet' | 'nameOf' | 'onVisited'>,
): Promise<Visited<Finding>['finding']> {
  const visited: Visited<Finding> = sweep.hasTime()
    ? await withLogFields({}, () => sweep.visit(entry)).then(
        (finding) => ({ finding }),
        (error: unknown) => ({ finding: 'error', error }),
      )
    : { finding: 'unvisited' };
  const { finding, error } = visited;
  if (sweep.onVisited) {
    sweep.onVisited(entry, visited);
    return finding;
  }
  const fields = { sweep: sweep.work, ...sweep.nameOf(entry), finding };
  if (finding === 'error') log('error', 'swept', { ...fields, ...describeError(error) });
  else if (finding !== 'unvisited' && !sweep.quiet?.includes(finding)) log('info', 'swept', fields);
  return finding;
}

function count(report: SweepReport, finding: string): void {
  report.findings[finding] = (report.findings[finding] ?? 0) + 1;
  if (finding === 'unvisited') report.unvisited += 1;
  else report.visited += 1;
  if (finding === 'error') report.failed += 1;
}
