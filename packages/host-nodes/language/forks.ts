import { Raised } from '../values/exceptions.ts';
import type { Followed, Snapshot, Store } from '../values/heap.ts';
import { enter, joinedStates } from '../values/join.ts';
import type { Machine } from '../values/machine.ts';

/** Follows several ways from the same state, next to others. A way that raises is dropped, unless all do. */
export function follow<Result>(
  machine: Machine,
  ways: readonly (() => Result)[],
  others: Followed<Result> = { ways: [], before: new Map() },
): Followed<Result> {
  const before = new Map<Store, Snapshot>(others.before);
  const followed = [...others.ways];
  let raised: unknown;
  for (const way of ways) {
    const explored = machine.heap.explore(way, (error) => error instanceof Raised);
    if (explored.way.error === undefined) followed.push(explored.way);
    else raised ??= explored.way.error;
    for (const [store, snapshot] of explored.before) if (!before.has(store)) before.set(store, snapshot);
  }
  if (followed.length === 0) throw raised;
  return { ways: followed, before };
}

/** Follows several ways and goes on with all of them at once. */
export function fork<Result>(machine: Machine, ways: readonly (() => Result)[]): Result[] {
  const followed = follow(machine, ways);
  enter(machine, joinedStates(machine, followed));
  return followed.ways.map(({ result }) => result as Result);
}
