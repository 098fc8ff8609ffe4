import {
  addItem,
  discard,
  hashKey,
  held,
  leaveOpen,
  lookUp,
  orderOf,
  plain,
  plainTruth,
  put,
  putPair,
} from '../values/access.ts';
import { type Methods, raise } from '../values/builtin-types.ts';
import { compare, contains, equal, setOf } from '../values/equality.ts';
import { join } from '../values/branches.ts';
import {
  Dict,
  type Entry,
  type Keywords,
  List,
  type Machine,
  PythonSet,
  type Value,
} from '../values/values.ts';
import { Instance } from '../values/objects.ts';
import { isCounted, isSame, maybe, Several, Tuple, Unknown } from '../values/plain.ts';
import { findAttribute } from '../language/attributes.ts';
import { combineSets } from '../language/operators.ts';

function of<Kind extends List | Tuple | Dict>(
  value: Value | undefined,
  ...kinds: (new (
    ...args: never[]
  ) => Kind)[]
): Kind {
  const known = value === undefined ? null : plain(value);
  for (const kind of kinds) if (known instanceof kind) return known;
  return raise('TypeError', 'a collection of another type is required');
}

const listOf = (value: Value | undefined): List => of(value, List);
const dictOf = (value: Value | undefined): Dict => of(value, Dict);
const itemsOf = (value: Value | undefined): readonly Value[] => of<List | Tuple>(value, List, Tuple).items;

function changed(machine: Machine, value: Value | undefined): List {
  const list = listOf(value);
  machine.heap.touch(list);
  return list;
}

/** A position among a list's items. If it is unknown, returns undefined and leaves the list open. */
function place(machine: Machine, list: List, index: Value = -1n, isTaken = false): number | undefined {
  const position = plain(index);
  const end = Number(position) < 0 ? list.items.length : Number(position) + (isTaken ? 1 : 0);
  machine.budget.read(list.items.length);
  const isOrdered = !isTaken || list.order === undefined;
  if (position instanceof Unknown || !isOrdered || !isCounted(machine, list.items.slice(0, end))) {
    leaveOpen(machine, list, 'an unknown position');
    return undefined;
  }
  return Number(position) < 0 ? Number(position) + list.items.length : Number(position);
}

/** The index of an item; undefined if unknown. */
function find(machine: Machine, items: readonly Value[], item: Value): number | undefined {
  for (const [index, other] of items.entries()) {
    const same = equal(machine, other, item);
    if (same === undefined) return undefined;
    if (same) return index;
  }
  return raise('ValueError', 'x not in list');
}

export const listMethods: Methods = {
  append: (machine, [self, item = null]) => {
    changed(machine, self).items.push(item);
  },
  extend: (machine, [self, items = null]) => {
    const added = [...machine.iterate(items)];
    const list = changed(machine, self);
    list.items.push(...added);
    list.order ??= orderOf(items);
  },
  insert: (machine, [self, index, item = null]) => {
    const list = changed(machine, self);
    const position = place(machine, list, index);
    if (position === undefined) list.items.push(maybe(item));
    else list.items.splice(Math.max(0, position), 0, item);
  },
  pop: (machine, [self, index]) => {
    const list = changed(machine, self);
    const position = place(machine, list, index, true);
    if (position === undefined) return new Unknown('an unknown position');
    const [item] = list.items.splice(position, 1);
    return item === undefined ? raise('IndexError', 'index out of range') : item;
  },
  remove: (machine, [self, item = null]) => {
    const list = changed(machine, self);
    const index = find(machine, list.items, item);
    if (index === undefined) leaveOpen(machine, list, 'an unknown comparison');
    else {
      machine.budget.read(list.items.length);
      list.items.splice(index, 1);
    }
  },
  /** A method of a deque, which is a list here. */
  popleft: (machine, [self]) => machine.call(machine.attribute(listOf(self), 'pop'), [0n]),
  appendleft: (machine, [self, item = null]) =>
    machine.call(machine.attribute(listOf(self), 'insert'), [0n, item]),
  clear: (machine, [self]) => {
    changed(machine, self).items = [];
  },
  reverse: (machine, [self]) => {
    const list = changed(machine, self);
    machine.budget.spend(list.items.length);
    list.items.reverse();
  },
  sort: (machine, [self], keywords) => {
    const { items, order } = sorted(machine, listOf(self), keywords);
    Object.assign(changed(machine, self), { items, order });
  },
  copy: (machine, [self]) => {
    machine.budget.spend(listOf(self).items.length);
    return new List([...listOf(self).items], listOf(self).order);
  },
};

export const sequenceMethods: Methods = {
  index: (machine, [self, item = null]) => {
    const why = orderOf(self);
    if (why !== undefined) return new Unknown(why);
    const index = find(machine, itemsOf(self), item);
    return index === undefined ? new Unknown('an unknown comparison') : BigInt(index);
  },
};

export function update(
  machine: Machine,
  target: Dict,
  source?: Value,
  keywords?: ReadonlyMap<string, Value>,
): void {
  const from = source === undefined ? undefined : plain(source);
  machine.heap.touch(target);
  target.order ??= orderOf(from);
  if (from instanceof Unknown) target.open ??= from.path === '' ? from.why : `it comes from ${from.path}`;
  else if (from instanceof Dict) {
    machine.budget.spend(from.entries.size);
    for (const [hash, entry] of from.entries) {
      if (!entry.conditional) target.entries.set(hash, { ...entry });
      else putPair(machine, target, maybe(new Tuple([entry.key, entry.value])));
    }
    target.open ??= from.open;
  } else if (from instanceof Instance && findAttribute(machine, from, 'keys') !== undefined) {
    for (const key of machine.iterate(machine.call(machine.attribute(from, 'keys'))))
      put(machine, target, key, machine.call(machine.attribute(from, '__getitem__'), [key]));
  } else if (from !== undefined) {
    for (const pair of machine.iterate(from)) putPair(machine, target, pair);
  }
  for (const [name, value] of keywords ?? []) {
    if (name === '**' && value instanceof Unknown) target.open ??= value.why;
    else put(machine, target, name, value);
  }
}

type Pair = Pick<Entry, 'key' | 'value'>;

const pairOf = ({ key, value }: Pair) => new Tuple([key, value]);

/** Views of a dict are lists here: no declaration of nodes relies on their following the dict. */
function viewOf(pick: (entry: Pair) => Value): Methods[string] {
  return (machine, [self]) => new List(held(machine, dictOf(self), pick), dictOf(self).order);
}

export const dictMethods: Methods = {
  get: (machine, [self, key = null, fallback = null]) =>
    underKey(machine, dictOf(self), key, fallback) ?? null,
  keys: viewOf(({ key }) => key),
  values: viewOf(({ value }) => value),
  items: viewOf(pairOf),
  update: (machine, [self, source], keywords) => {
    update(machine, dictOf(self), source, keywords);
  },
  setdefault: (machine, [self, key = null, fallback = null]) => {
    const value = underKey(machine, dictOf(self), key, fallback) ?? null;
    put(machine, dictOf(self), key, value);
    return value;
  },
  pop: (machine, [self, key = null, fallback]) => {
    const found = underKey(machine, dictOf(self), key, fallback);
    discard(machine, dictOf(self), key);
    return found === undefined ? raise('KeyError', 'pop') : found;
  },
  popitem: (machine, [self]) => {
    const last = held(machine, dictOf(self), pairOf).at(-1);
    if (!(last instanceof Tuple)) return last ?? raise('KeyError', 'popitem(): dictionary is empty');
    discard(machine, dictOf(self), last.items[0] ?? null);
    return last;
  },
  clear: (machine, [self]) => {
    const dict = dictOf(self);
    machine.heap.touch(dict);
    dict.entries = new Map();
    dict.open = undefined;
  },
  copy: (machine, [self]) => {
    const copy = new Dict();
    update(machine, copy, dictOf(self));
    copy.fallback = dictOf(self).fallback;
    return copy;
  },
};

/** The value under a key, joined with the fallback if the key may be absent. */
function underKey(machine: Machine, dict: Dict, key: Value, fallback: Value | undefined): Value | undefined {
  const found = lookUp(machine, dict, key);
  if (found === undefined) return fallback;
  const isSure = fallback === undefined || contains(machine, dict, key) === true;
  return isSure ? found : join(machine, found, fallback);
}

function setFrom(machine: Machine, value: Value | undefined): PythonSet {
  const known = value === undefined ? null : plain(value);
  return known instanceof PythonSet ? known : setOf(machine, machine.iterate(known));
}

function combining(operator: string): Methods[string] {
  return (machine, [self, ...others]) =>
    others.reduce<Value>(
      (set, other) => combineSets(machine, operator, setFrom(machine, set), setFrom(machine, other)),
      setFrom(machine, self),
    );
}

export const setMethods: Methods = {
  add: (machine, [self, item = null]) => {
    addItem(machine, setFrom(machine, self), item);
  },
  discard: (machine, [self, item = null]) => {
    discard(machine, setFrom(machine, self), item);
  },
  remove: (machine, [self, item = null]) => {
    const set = setFrom(machine, self);
    const hash = hashKey(machine, item);
    if (hash !== undefined && set.open === undefined && !set.entries.has(hash))
      raise('KeyError', 'it is not in the set');
    discard(machine, set, item);
  },
  update: (machine, [self, ...sources]) => {
    for (const source of sources) {
      for (const item of machine.iterate(source)) addItem(machine, setFrom(machine, self), item);
    }
  },
  union: combining('BitOr'),
  intersection: combining('BitAnd'),
  difference: combining('Sub'),
  symmetric_difference: combining('BitXor'),
  copy: (machine, [self]) => setOf(machine, machine.iterate(self ?? null)),
};

/**
 * Sorts as `sorted` does; values that can't be compared leave the order open. The comparison counts steps, so
 * the runtime's merge sort has the same limits as everything else.
 */
export function sorted(machine: Machine, source: Value, keywords: Keywords): List {
  const key = keywords.get('key') ?? null;
  const keyed = [...machine.iterate(source)].map((item) => ({
    item,
    key: key === null ? item : machine.call(key, [item]),
  }));
  const isReverse = plainTruth(machine, plain(keywords.get('reverse') ?? false));
  machine.budget.spend(keyed.length);
  let isKnown = isReverse !== undefined || keyed.length < 2;
  // Equal keys keep the order that the items had.
  let isTied = false;
  const order = keyed.sort((left, right) => {
    const answer = compare(machine, left.key, right.key);
    isKnown &&= answer !== undefined;
    isTied ||= answer === 0 && !isSame(machine, left.item, right.item);
    return (isReverse ? -1 : 1) * (answer ?? 0);
  });
  const all = order.map(({ item }) => item);
  const known = isKnown ? all : [new Several('an unknown order', []), ...all];
  return new List(known, isTied ? orderOf(source) : undefined);
}
