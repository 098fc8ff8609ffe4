import { Raised } from '../values/exceptions.ts';
import type { Snapshot, Store, Way } from '../values/heap.ts';
import { joinWays } from '../values/join.ts';
import type { Machine } from '../values/machine.ts';

/**
 * Follows several ways from the same state and joins what they led to. A way that raises is dropped, unless all do.
 * `wins` picks the ways whose state goes on, of those that are left.
 */
export function fork<Result>(
  machine: Machine,
  ways: readonly (() => Result)[],
  wins: (results: readonly Result[]) => (result: Result) => boolean = () => () => true,
): Result[] {
  const before = new Map<Store, Snapshot>();
  const followed: Way<Result>[] = [];
  for (const way of ways) {
    const explored = machine.heap.explore(way, (error) => error instanceof Raised);
    followed.push(explored.way);
    for (const [store, snapshot] of explored.before) if (!before.has(store)) before.set(store, snapshot);
  }
  const left = followed.filter(({ error }) => error === undefined);
  if (left.length === 0) throw followed[0]?.error;
  const results = left.map(({ result }) => result as Result);
  const winning = wins(results);
  joinWays(
    machine,
    left.filter(({ result }) => winning(result as Result)),
    before,
  );
  return results;
}
