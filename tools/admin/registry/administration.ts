import { hostname, userInfo } from 'node:os';
import type { Context } from '../../../lib/context.ts';
import * as history from '../../../lib/registry/history.ts';
import { type HistoryRecord, historyRecord } from '../../../lib/registry/records.ts';
import type { Item } from '../../../lib/store/items.ts';
import { historyKeysOf, type Key } from '../../../lib/store/keys.ts';
import { queryAll } from '../../../lib/store/read.ts';
import { untilWritten } from '../../../lib/store/retries.ts';
import { transact, type Write } from '../../../lib/store/write.ts';

/*
 * Changes without an endpoint. Each reads, decides, and writes on the condition that what it read still holds, so no
 * publish, upload or other administrator is undone. A history record is part of the same transaction.
 */

const patienceMs = 10_000;

export function newContext(): Context {
  return { deadline: Date.now() + patienceMs };
}

/** Whether a command changed something, or found everything as it should be. */
export interface Changed<Result> {
  result: Result;
  changed: boolean;
}

/** Repeats until a decision is written over the state it was made for. `decide` returns the writes, or `done`. */
export async function administer<Result>(
  decide: (
    context: Context,
  ) => Promise<{ done: Result } | { change: history.Change; writes: Write[]; result: Result }>,
): Promise<Result> {
  return (await administerChange(decide)).result;
}

export function administerChange<Result>(
  decide: Parameters<typeof administer<Result>>[0],
): Promise<Changed<Result>> {
  const context = newContext();
  return untilWritten(context, async () => {
    const decision = await decide(context);
    if ('done' in decision) return { result: decision.done, changed: false };
    const failed = await transact(context, [...decision.writes, historyOf(decision.change)]);
    return failed.length === 0 ? { result: decision.result, changed: true } : undefined;
  });
}

export function actorName(): string {
  return process.env.ADMIN_ACTOR || `${userInfo().username}@${hostname()}`;
}

/** The history of a change that an administrator makes. */
export function historyOf(change: history.Change): Write {
  return history.historyOf(actorName(), change);
}

/** What administrators and owners changed about a publisher or a node, the latest first. */
export async function listHistory(key: Key): Promise<HistoryRecord[]> {
  const items = await listItems(historyKeysOf(key));
  return items.map((item) => historyRecord(item)).reverse();
}

/** Every item of a partition whose sort key begins as the given one does, in the order of their sort keys. */
export function listItems(key: Key): Promise<Item[]> {
  return queryAll(newContext(), key);
}
