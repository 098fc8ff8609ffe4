import { Class, Dict } from '../values/objects.ts';
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
    else {
      raised ??= explored.way.error;
      machine.drop(explored.way.error, classKeys(machine, explored));
    }
    for (const [store, snapshot] of explored.before) if (!before.has(store)) before.set(store, snapshot);
  }
  if (followed.length === 0) throw raised;
  return { ways: followed, before };
}

/** The keys under which a way put classes: of nodes, if it is about a list of them. */
function classKeys(machine: Machine, { way, before }: ReturnType<Machine['heap']['explore']>): string[] {
  return [...way.after].flatMap(([store, { entries, size }]) => {
    if (!(store instanceof Dict)) return [];
    machine.budget.spend(size);
    const added = [...entries].filter(
      ([key, { value }]) => value instanceof Class && !before.get(store)?.entries.has(key),
    );
    return added.map(([key]) => key);
  });
}

/** Follows several ways and goes on with all of them at once. */
export function fork<Result>(machine: Machine, ways: readonly (() => Result)[]): Result[] {
  const followed = follow(machine, ways);
  enter(machine, joinedStates(machine, followed));
  return followed.ways.map(({ result }) => result as Result);
}
