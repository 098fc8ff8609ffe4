import { addItem, discard, hashKey, lookUp, plain, put } from '../values/access.ts';
import type { Methods } from '../values/builtin-types.ts';
import { contains, equal, setOf } from '../values/equality.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { Dict, List, PythonSet } from '../values/collections.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { combineSets } from '../language/operators.ts';
import { sorted } from './sorting.ts';

function listOf(value: Value | undefined): List {
  const list = value === undefined ? null : plain(value);
  return list instanceof List ? list : raise('TypeError', 'a list is required');
}

function itemsOf(value: Value | undefined): readonly Value[] {
  const known = value === undefined ? null : plain(value);
  if (known instanceof List || known instanceof Tuple) return known.items;
  return raise('TypeError', 'a list or tuple is required');
}

function changed(machine: Machine, value: Value | undefined): List {
  const list = listOf(value);
  machine.heap.touch(list);
  return list;
}

function place(list: List, index: Value | undefined): number {
  const position = Number(plain(index ?? -1n));
  return position < 0 ? position + list.items.length : position;
}

export const listMethods: Methods = {
  append: (machine, [self, item = null]) => {
    changed(machine, self).items.push(item);
    return null;
  },
  extend: (machine, [self, items = null]) => {
    if (items instanceof Unknown) return null;
    const added = [...machine.iterate(items)];
    changed(machine, self).items.push(...added);
    return null;
  },
  insert: (machine, [self, index, item = null]) => {
    const list = changed(machine, self);
    machine.budget.spend(1 + (list.items.length >> 4));
    list.items.splice(Math.max(0, place(list, index)), 0, item);
    return null;
  },
  pop: (machine, [self, index]) => {
    const list = changed(machine, self);
    machine.budget.spend(1 + (list.items.length >> 4));
    if (index instanceof Unknown) return index;
    const [item] = list.items.splice(place(list, index), 1);
    return item === undefined ? raise('IndexError', 'pop index out of range') : item;
  },
  remove: (machine, [self, item = null]) => {
    const list = changed(machine, self);
    const index = list.items.findIndex((other) => equal(machine, other, item) === true);
    if (index < 0) raise('ValueError', 'list.remove(x): x not in list');
    list.items.splice(index, 1);
    return null;
  },
  clear: (machine, [self]) => {
    changed(machine, self).items = [];
    return null;
  },
  reverse: (machine, [self]) => {
    const list = changed(machine, self);
    machine.budget.spend(list.items.length);
    list.items.reverse();
    return null;
  },
  sort: (machine, [self], keywords) => {
    const order = sorted(machine, listOf(self).items, keywords);
    changed(machine, self).items = order;
    return null;
  },
  copy: (machine, [self]) => {
    machine.budget.spend(listOf(self).items.length);
    return new List([...listOf(self).items], listOf(self).symbolic);
  },
};

export const sequenceMethods: Methods = {
  index: (machine, [self, item = null]) => {
    const index = itemsOf(self).findIndex((other) => equal(machine, other, item) === true);
    return index < 0 ? raise('ValueError', 'it is not in the list') : BigInt(index);
  },
  count: (machine, [self, item = null]) =>
    BigInt(itemsOf(self).filter((other) => equal(machine, other, item) === true).length),
};

function dictOf(value: Value | undefined): Dict {
  const dict = value === undefined ? null : plain(value);
  return dict instanceof Dict ? dict : raise('TypeError', 'a dict is required');
}

/** Adds entries to a dict as `dict(...)` and `update` do. */
export function update(
  machine: Machine,
  target: Dict,
  source: Value,
  keywords?: ReadonlyMap<string, Value>,
): void {
  const from = plain(source);
  machine.heap.touch(target);
  if (from instanceof Unknown) target.open ??= from.path === '' ? from.why : `it comes from ${from.path}`;
  else if (from instanceof Dict) {
    machine.budget.spend(from.entries.size);
    for (const [hash, entry] of from.entries) target.entries.set(hash, { ...entry });
    target.open ??= from.open;
  } else if (from !== null) {
    for (const pair of machine.iterate(from)) updatePair(machine, target, pair);
  }
  for (const [name, value] of keywords ?? []) put(machine, target, name, value);
}

function updatePair(machine: Machine, target: Dict, pair: Value): void {
  if (pair instanceof Unknown) target.open ??= pair.why;
  else {
    const [key = null, value = null] = machine.iterate(pair);
    put(machine, target, key, value);
  }
}

export const dictMethods: Methods = {
  get: (machine, [self, key = null, fallback = null]) => {
    const found = lookUp(machine, dictOf(self), key);
    return found === undefined ? fallback : found;
  },
  keys: (machine, [self]) => listed(machine, dictOf(self), ({ key }) => key),
  values: (machine, [self]) => listed(machine, dictOf(self), ({ value }) => value),
  items: (machine, [self]) => listed(machine, dictOf(self), ({ key, value }) => new Tuple([key, value])),
  update: (machine, [self, source = null], keywords) => {
    update(machine, dictOf(self), source, keywords);
    return null;
  },
  setdefault: (machine, [self, key = null, fallback = null]) => {
    const found = lookUp(machine, dictOf(self), key);
    if (found !== undefined && !(found instanceof Unknown)) return found;
    put(machine, dictOf(self), key, fallback);
    return fallback;
  },
  pop: (machine, [self, key = null, fallback]) => {
    const found = lookUp(machine, dictOf(self), key);
    discard(machine, dictOf(self), key);
    if (found !== undefined) return found;
    return fallback === undefined ? raise('KeyError', 'pop') : fallback;
  },
  popitem: (machine, [self]) => {
    const last = [...dictOf(self).entries.values()].at(-1);
    machine.budget.spend(dictOf(self).entries.size);
    if (!last) return raise('KeyError', 'popitem(): dictionary is empty');
    discard(machine, dictOf(self), last.key);
    return new Tuple([last.key, last.value]);
  },
  clear: (machine, [self]) => {
    const dict = dictOf(self);
    machine.heap.touch(dict);
    dict.entries = new Map();
    return null;
  },
  copy: (machine, [self]) => {
    const copy = new Dict();
    update(machine, copy, dictOf(self));
    copy.fallback = dictOf(self).fallback;
    return copy;
  },
};

/** Views of a dict are lists here: nothing that declares nodes relies on their following the dict. */
function listed(
  machine: Machine,
  { entries }: Dict,
  pick: (entry: { key: Value; value: Value }) => Value,
): List {
  machine.budget.spend(entries.size);
  return new List([...entries.values()].map(pick));
}

function setFrom(machine: Machine, value: Value | undefined): PythonSet {
  const known = value === undefined ? null : plain(value);
  return known instanceof PythonSet ? known : setOf(machine, machine.iterate(known));
}

function combining(operator: string): Methods[string] {
  return (machine, [self, ...others]) =>
    others.some((other) => other instanceof Unknown)
      ? new Unknown('a set with unknown items')
      : others.reduce<Value>(
          (set, other) => combineSets(machine, operator, setFrom(machine, set), setFrom(machine, other)),
          setFrom(machine, self),
        );
}

export const setMethods: Methods = {
  add: (machine, [self, item = null]) => {
    addItem(machine, setFrom(machine, self), item);
    return null;
  },
  discard: (machine, [self, item = null]) => {
    discard(machine, setFrom(machine, self), item);
    return null;
  },
  remove: (machine, [self, item = null]) => {
    const set = setFrom(machine, self);
    const hash = hashKey(machine, item);
    if (hash !== undefined && !set.entries.has(hash)) raise('KeyError', 'it is not in the set');
    discard(machine, set, item);
    return null;
  },
  update: (machine, [self, ...sources]) => {
    for (const source of sources) {
      if (source instanceof Unknown) continue;
      for (const item of machine.iterate(source)) addItem(machine, setFrom(machine, self), item);
    }
    return null;
  },
  union: combining('BitOr'),
  intersection: combining('BitAnd'),
  difference: combining('Sub'),
  symmetric_difference: combining('BitXor'),
  copy: (machine, [self]) => setOf(machine, machine.iterate(self ?? null)),
  clear: (machine, [self]) => {
    const set = setFrom(machine, self);
    machine.heap.touch(set);
    set.entries = new Map();
    return null;
  },
  issubset: (machine, [self, other = null]) => {
    const items = [...machine.iterate(self ?? null)].map((item) => contains(machine, other, item));
    return items.includes(undefined) ? new Unknown('a set with unknown items') : !items.includes(false);
  },
};
