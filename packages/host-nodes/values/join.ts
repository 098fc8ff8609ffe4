import { Class, Func } from './objects.ts';
import { condition, isCounted, isSame, Several, Tuple, Unknown } from './plain.ts';
import {
  Dict,
  type Entry,
  type Followed,
  List,
  type Machine,
  Module,
  type Snapshot,
  type Store,
  type Value,
} from './values.ts';

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
export function joinedStates(machine: Machine, { ways, before }: Followed<unknown>): Map<Store, Snapshot> {
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

export function enter(machine: Machine, states: ReadonlyMap<Store, Snapshot>): void {
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
