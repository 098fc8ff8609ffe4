import { Class } from '../values/objects.ts';
import {
  type Completion,
  Dict,
  type Followed,
  type Machine,
  type Snapshot,
  type Store,
  type Way,
} from '../values/values.ts';
import { enter, join, joinedStates } from '../values/join.ts';
import { Raised } from '../values/builtin-types.ts';

/** Follows the branches of a statement with an unknown condition. If their ends differ, it splits. */
export function branch(machine: Machine, ways: readonly (() => Completion)[]): Completion {
  return end(machine, follow(machine, ways));
}

/** Runs the next statements: after a split, only in the way that continues, next to those that leave. */
export function proceed(machine: Machine, completion: Completion, next: () => Completion): Completion {
  if (completion === undefined) return next();
  if (completion.kind !== 'split') return completion;
  const { ways, before } = completion;
  const going = ways.find(({ result }) => result === undefined);
  if (!going) return completion;
  const go = () => {
    enter(machine, going.after);
    return next();
  };
  return end(machine, follow(machine, [go], { ways: ways.filter((way) => way !== going), before }));
}

/** Continues with all ways at once, and returns how they ended. */
export function settle(machine: Machine, completion: Completion): Completion[] {
  if (completion?.kind !== 'split') return [completion];
  enter(machine, joinedStates(machine, completion));
  return completion.ways.map(({ result }) => result);
}

/** One way for each kind of end; a single kind takes effect directly. */
function end(machine: Machine, { ways, before }: Followed<Completion>): Completion {
  const flat = ways.flatMap(({ result, after }): Way<Completion>[] =>
    result?.kind === 'split'
      ? result.ways.map((way) => ({ result: way.result, after: new Map([...after, ...way.after]) }))
      : [{ result, after }],
  );
  const merged = [undefined, 'return', 'break', 'continue'].flatMap((kind): Way<Completion>[] => {
    const same = flat.filter(({ result }) => result?.kind === kind);
    if (same.length < 2) return same;
    const result = same
      .map((way) => way.result)
      .reduce((left, right) =>
        left?.kind === 'return' && right?.kind === 'return'
          ? { kind: 'return', value: join(machine, left.value, right.value) }
          : left,
      );
    return [{ result, after: joinedStates(machine, { ways: same, before }) }];
  });
  const [only] = merged;
  if (merged.length > 1 || !only) return { kind: 'split', ways: merged, before };
  enter(machine, only.after);
  return only.result;
}

/** Follows several ways from the same state, next to others. Drops a way that raises, unless all do. */
function follow<Result>(
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

/** The keys under which a way put classes: node names, if it is about a list of nodes. */
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

/** Follows several ways and continues with all of them at once. */
export function fork<Result>(machine: Machine, ways: readonly (() => Result)[]): Result[] {
  const followed = follow(machine, ways);
  enter(machine, joinedStates(machine, followed));
  return followed.ways.map(({ result }) => result as Result);
}
