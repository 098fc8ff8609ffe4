import type { Entry, Snapshot, Store, Way } from './heap.ts';
import type { Machine } from './machine.ts';
import { Dict, List, Module } from './collections.ts';
import { Class, Func } from './objects.ts';
import { Tuple, Unknown } from './plain.ts';
import type { Value } from './values.ts';

const condition = 'it depends on a condition';

/** One value for what two ways led to. What a way defined wins over what the other knows nothing of. */
export function join(machine: Machine, left: Value, right: Value): Value {
  machine.budget.spend();
  if (left === right) return left;
  if (definesMore(left, right)) return left;
  if (definesMore(right, left)) return right;
  if (left instanceof Unknown) return left;
  if (right instanceof Unknown) return right;
  if (left instanceof Dict && right instanceof Dict) return joinDicts(machine, left, right);
  if (left instanceof List && right instanceof List) {
    const items = joinItems(machine, left.items, right.items);
    return items ? new List(items) : new Unknown(condition);
  }
  if (left instanceof Tuple && right instanceof Tuple) {
    const items = joinItems(machine, left.items, right.items);
    return items ? new Tuple(items) : new Unknown(condition);
  }
  return new Unknown(condition);
}

function definesMore(value: Value, other: Value): boolean {
  const isDefinition = value instanceof Class || value instanceof Func || value instanceof Module;
  return isDefinition && (other instanceof Unknown || other === null);
}

function joinItems(machine: Machine, left: readonly Value[], right: readonly Value[]): Value[] | undefined {
  if (left.length !== right.length) return undefined;
  return left.map((item, index) => join(machine, item, right[index] ?? null));
}

function joinDicts(machine: Machine, left: Dict, right: Dict): Dict {
  const joined = new Dict();
  joined.entries = joinEntries(machine, left.entries, right.entries);
  joined.open = left.open ?? right.open;
  return joined;
}

type Entries = ReadonlyMap<string, Entry>;

function joinEntries(machine: Machine, left: Entries, right: Entries): Map<string, Entry> {
  const joined = new Map<string, Entry>();
  for (const [key, entry] of left) {
    const other = right.get(key);
    if (entry === other) joined.set(key, entry);
    else if (!other) joined.set(key, { ...entry, conditional: true });
    else joined.set(key, joinEntry(machine, entry, other));
  }
  for (const [key, entry] of right) if (!left.has(key)) joined.set(key, { ...entry, conditional: true });
  machine.budget.spend(joined.size >> 1);
  return joined;
}

function joinEntry(machine: Machine, left: Entry, right: Entry): Entry {
  const value = join(machine, left.value, right.value);
  return { key: left.key, value, conditional: left.conditional || right.conditional };
}

/** Brings the state to what several ways led to, each from the same beginning. */
export function joinWays(
  machine: Machine,
  ways: readonly Way<unknown>[],
  before: ReadonlyMap<Store, Snapshot>,
): void {
  const touched = new Set(ways.flatMap(({ after }) => [...after.keys()]));
  for (const store of touched) {
    const states = ways.map(({ after }) => after.get(store) ?? before.get(store) ?? store.snapshot());
    machine.heap.touch(store);
    store.restore(states.reduce((left, right) => joinStates(machine, left, right)));
  }
}

function joinStates(machine: Machine, left: Snapshot, right: Snapshot): Snapshot {
  // Of two lists of different length, what one way appended is kept: a node may be in it.
  const longer = left.items.length >= right.items.length ? left.items : right.items;
  return {
    entries: joinEntries(machine, left.entries, right.entries),
    items: joinItems(machine, left.items, right.items) ?? longer,
    open: left.open ?? right.open,
    size: Math.max(left.size, right.size),
  };
}
