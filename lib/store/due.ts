import type { Context } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { describeError, log, withLogFields } from '../log.ts';
import type { AttributeMap, Item } from './items.ts';
import { type Key, keyOf, pendingIndex } from './keys.ts';
import { queryPage } from './read.ts';

/*
 * Due work. A record with due work is in the index `pending`, in one of the shards of its kind of work,
 * sorted by the time since when it is due. The write that ends the work removes the record from the index. So
 * a sweep needs no memory of its own: unvisited or failed work is still there for the next one.
 */

export type DueWork = 'uploads';

/** Each takes 1,000 writes a second. A task with three notified states makes six. */
const shards: Record<DueWork, readonly string[]> = {
  uploads: shardNames('', 16),
};

function shardNames(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => prefix + index.toString(16));
}

export function dueShards(work: DueWork): readonly string[] {
  return shards[work];
}

/** The shard of a record, by two random hexadecimal digits of it. */
export function dueShard(work: DueWork, hash: string): string {
  return shards[work][Number.parseInt(hash.slice(0, 2), 16) % shards[work].length] as string;
}

/** The kind of work that a record still needs; undefined if it needs none. */
export function dueWork(record: { pending_shard?: string } | undefined): DueWork | undefined {
  const works = Object.keys(shards) as DueWork[];
  return works.find((work) => shards[work].includes(record?.pending_shard ?? 'none'));
}

/** Removes a record from the index. */
export const notDue = { pending_shard: null, pending_since: null } as const;

export interface DueKey extends Key {
  since: string;
}

/** A period, in milliseconds since the epoch. */
export interface Period {
  from: number;
  to: number;
}

interface Visited<Finding> {
  /** `unvisited`: there was no time for it. */
  finding: Finding | 'error' | 'unvisited';
  error?: unknown;
}

export interface Sweep<Entry, Finding extends string> {
  work: DueWork;
  /** The range of times since when it is due. */
  period: Period;
  order: 'newest first' | 'oldest first';
  visitsAtOnce: number;
  /** The records under some keys, without those that are no longer due. */
  read: (keys: readonly DueKey[]) => Promise<readonly Entry[]>;
  visit: (entry: Entry) => Promise<Finding | 'unvisited'>;
  hasTime: () => boolean;
  /** Findings that occur only if an event was lost or a function died. An alarm watches their number. */
  unexpected: readonly Finding[];
  /** Findings that get no log line of their own. */
  quiet?: readonly Finding[];
  /** The fields that identify an entry in a log line. */
  nameOf: (entry: Entry) => Record<string, unknown>;
  /** Gets each entry instead of the log, for a command line that lists them. */
  onVisited?: ((entry: Entry, visited: Visited<Finding>) => void) | undefined;
}

export interface SweepReport {
  findings: Record<string, number>;
  visited: number;
  failed: number;
  /** Entries that were read but not visited, and shards that were not read to their end. */
  unvisited: number;
  unread_shards: number;
}

type DuePages = Pick<Sweep<unknown, string>, 'work' | 'period' | 'order' | 'hasTime'>;

const keysPerPage = 100;

interface Cursor {
  shard: string;
  after?: AttributeMap | undefined;
}

interface DuePage {
  keys: DueKey[];
  /** The number of shards that are still unfinished after this page. */
  unreadShards: number;
}

/**
 * The keys of due work, a page of each shard in turn, starting with a random shard: runs that are out of time
 * leave different work behind. Holds only one page in memory.
 */
async function* duePages(
  context: Context,
  { work, period, order, hasTime }: DuePages,
): AsyncGenerator<DuePage> {
  const own = shards[work];
  const first = Math.floor(Math.random() * own.length);
  let cursors: Cursor[] = [...own.slice(first), ...own.slice(0, first)].map((shard) => ({ shard }));
  while (cursors.length > 0 && hasTime()) {
    const [{ shard, after }, ...others] = cursors as [Cursor, ...Cursor[]];
    const page = await queryPage(context, dueRange(shard, period, order), { limit: keysPerPage, after });
    cursors = page.last ? [...others, { shard, after: page.last }] : others;
    yield { keys: page.items.map(dueKey), unreadShards: cursors.length };
  }
}

function dueRange(shard: string, { from, to }: Period, order: Sweep<unknown, string>['order']) {
  const [first, last] = [new Date(from).toISOString(), new Date(to).toISOString()];
  return {
    index: pendingIndex,
    partition: ['pending_shard', shard],
    sort: ['pending_since', 'between', first, last],
    descending: order === 'newest first',
  } as const;
}

function dueKey(item: Item): DueKey {
  return { ...keyOf(item), since: String(item.pending_since) };
}

/**
 * Visits due work. A failed or slow visit doesn't stop the others. Any visit may happen twice, and at the
 * same time as an event.
 */
export async function sweepDue<Entry, Finding extends string>(
  context: Context,
  sweep: Sweep<Entry, Finding>,
): Promise<SweepReport> {
  const findings: Record<string, number> = {};
  // Shards also count as unread if the reader or the index fails.
  let unreadShards = shards[sweep.work].length;
  // Not page by page: a long visit would hold up the next page.
  async function* dueEntries(): AsyncGenerator<Entry> {
    for await (const page of duePages(context, sweep)) {
      if (page.keys.length > 0) yield* await sweep.read(page.keys);
      unreadShards = page.unreadShards;
    }
  }
  try {
    await inParallel(dueEntries(), sweep.visitsAtOnce, async (entry) => {
      const finding = await visitOne(entry, sweep);
      findings[finding] = (findings[finding] ?? 0) + 1;
    });
    return reportOf(findings, unreadShards);
  } finally {
    const report = reportOf(findings, unreadShards);
    const counted = ['error', ...sweep.unexpected].map((finding) => findings[finding] ?? 0);
    const sweep_findings = counted.reduce((sum, times) => sum + times, 0);
    const sweep_unvisited = report.unvisited + report.unread_shards;
    if (!sweep.onVisited)
      log('info', 'sweep', { sweep: sweep.work, ...report, sweep_findings, sweep_unvisited });
  }
}

function reportOf(findings: Record<string, number>, unread_shards: number): SweepReport {
  const { error: failed = 0, unvisited = 0 } = findings;
  const all = Object.values(findings).reduce((sum, times) => sum + times, 0);
  return { findings, visited: all - unvisited, failed, unvisited, unread_shards };
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
        // Without time left, a failed call could not be retried.
        (error: unknown) => (sweep.hasTime() ? { finding: 'error', error } : { finding: 'unvisited' }),
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
