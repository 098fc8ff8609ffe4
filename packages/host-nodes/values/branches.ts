import { Class, Func } from './objects.ts';
import { condition, isCounted, isSame, Several, Tuple, Unknown } from './plain.ts';
import {
  type Completion,
  Dict,
  type Entry,
  type Followed,
  List,
  type Machine,
  Module,
  type Snapshot,
  type Store,
  type Value,
  type Way,
} from './values.ts';
import { Raised } from './builtin-types.ts';

/** One value for the results of two ways. A defined value wins over one that the other way left unknown. */
export function join(machine: Machine, left: Value, right: Value): Value {
  machine.budget.spend();
  if (isSame(machine, left, right)) return left;
  if (definesMore(left, right)) return left;
  if (definesMore(right, left)) return right;
  if (left instanceof Unknown) return left;
  if (right instanceof Unknown) return right;
  if (left instanceof Dict && right instanceof Dict) return joinDicts(machine, left, right);
  if (left instanceof List && right instanceof List)
    return new List(joinItems(machine, left.items, right.items), left.order ?? right.order);
  if (left instanceof Tuple && right instanceof Tuple)
    return new Tuple(joinItems(machine, left.items, right.items), left.order ?? right.order);
  return new Unknown(condition);
}

function definesMore(value: Value, other: Value): boolean {
  const isDefinition = value instanceof Class || value instanceof Func || value instanceof Module;
  return isDefinition && (other instanceof Unknown || other === null);
}

/** Items that both ways begin with are certain; the rest are only possible. */
function joinItems(machine: Machine, left: readonly Value[], right: readonly Value[]): Value[] {
  machine.budget.spend((left.length + right.length) >> 1);
  if (left.length === right.length && isCounted(machine, left) && isCounted(machine, right))
    return left.map((item, index) => join(machine, item, right[index] ?? null));
  let same = 0;
  while (same < left.length && isSame(machine, left[same], right[same])) same += 1;
  const rest = [...left.slice(same), ...right.slice(same)];
  if (rest.length === 0) return [...left];
  const items = new Set<Value>();
  for (const item of rest) {
    const several = item instanceof Several ? item.items : [item];
    machine.budget.spend(several.length);
    for (const one of several) items.add(one);
  }
  return [...left.slice(0, same), new Several(condition, [...items])];
}

function joinDicts(machine: Machine, left: Dict, right: Dict): Dict {
  const joined = new Dict();
  joined.entries = joinEntries(machine, left.entries, right.entries);
  joined.open = left.open ?? right.open;
  joined.order = left.order ?? right.order;
  return joined;
}

type Entries = ReadonlyMap<string, Entry>;

function joinEntries(machine: Machine, left: Entries, right: Entries): Map<string, Entry> {
  const joined = new Map<string, Entry>();
  for (const [key, entry] of left) {
    const other = right.get(key);
    if (entry === other) joined.set(key, entry);
    else if (!other) joined.set(key, { ...entry, conditional: true });
    else {
      const value = join(machine, entry.value, other.value);
      joined.set(key, { key: entry.key, value, conditional: entry.conditional || other.conditional });
    }
  }
  for (const [key, entry] of right) if (!left.has(key)) joined.set(key, { ...entry, conditional: true });
  machine.budget.spend(joined.size >> 1);
  return joined;
}

/** The contents of the stores after several ways, each from the same start. */
function joinedStates(machine: Machine, { ways, before }: Followed<unknown>): Map<Store, Snapshot> {
  const states = new Map<Store, Snapshot>();
  for (const store of new Set(ways.flatMap(({ after }) => [...after.keys()]))) {
    const each = ways.map(({ after }) => after.get(store) ?? before.get(store) ?? store.snapshot());
    states.set(
      store,
      each.reduce((left, right) => joinStates(machine, left, right)),
    );
  }
  return states;
}

function enter(machine: Machine, states: ReadonlyMap<Store, Snapshot>): void {
  for (const [store, state] of states) {
    machine.heap.touch(store);
    store.restore(state);
  }
}

function joinStates(machine: Machine, left: Snapshot, right: Snapshot): Snapshot {
  if (left === right) return left;
  return {
    entries: joinEntries(machine, left.entries, right.entries),
    items: joinItems(machine, left.items, right.items),
    open: left.open ?? right.open,
    size: Math.max(left.size, right.size),
  };
}

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
