import { raise } from './builtin-types.ts';
import { Class, Instance, methodOf, Native, outsideBase, type NativeCall } from './objects.ts';
import { condition, isCounted, Iterator, Range, Several, type Slice, Tuple, Unknown } from './plain.ts';
import {
  Dict,
  type Entry,
  type Heap,
  List,
  type Machine,
  type Namespace,
  PythonSet,
  Store,
  type Value,
} from './values.ts';
import { join } from './branches.ts';

/*
 * Reads and writes dicts, sets and namespaces. Equal Python keys have the same text, different ones different
 * texts, and the key of a string is the string itself, so a dict can be the view of a namespace.
 */

/** The key's text; undefined if the key is unknown. */
export function hashKey(machine: Machine, key: Value): string | undefined {
  machine.budget.spend();
  if (key instanceof Unknown) return undefined;
  if (typeof key === 'string') {
    machine.budget.read(key.length);
    return key.startsWith('\0') ? `\0s${key}` : key;
  }
  if (key === null) return '\0none';
  if (typeof key === 'boolean') return `\0n${key ? 1 : 0}`;
  if (typeof key === 'bigint' || typeof key === 'number') return `\0n${digitsOf(machine, key)}`;
  if (key instanceof Tuple) return tupleKey(machine, key);
  if (key instanceof Instance) {
    if (key.payload !== undefined && methodOf(key, '__hash__') === undefined)
      return hashKey(machine, key.payload);
    return `\0o${key.born}`;
  }
  if (key instanceof List || key instanceof Dict || (key instanceof PythonSet && !key.frozen)) {
    return raise('TypeError', 'unhashable type');
  }
  return `\0o${identity(key)}`;
}

/** Writing a large number takes as long as writing a text. */
export function digitsOf(machine: Machine, number: bigint | number): string {
  const digits = number.toString();
  machine.budget.read(digits.length);
  return digits;
}

function tupleKey(machine: Machine, { items }: Tuple): string | undefined {
  const keys: string[] = [];
  let length = 0;
  for (const item of items) {
    const key = hashKey(machine, item);
    if (key === undefined) return undefined;
    length += key.length;
    machine.budget.text(key.length, length);
    keys.push(`${key.length}:${key}`);
  }
  return `\0t${keys.join('')}`;
}

const identities = new WeakMap<object, number>();
let lastIdentity = 0;

function identity(value: object): number {
  const known = identities.get(value);
  if (known !== undefined) return known;
  lastIdentity -= 1;
  identities.set(value, lastIdentity);
  return lastIdentity;
}

type Collection = Dict | PythonSet;

/** Why a key is unknown; for a tuple, because of one of its items. */
function reasonOf(key: Value): string {
  return key instanceof Unknown ? key.why : 'an unknown key';
}

export function put(machine: Machine, target: Dict, key: Value, value: Value): void {
  const hash = hashKey(machine, key);
  machine.heap.touch(target);
  if (hash === undefined) target.open ??= reasonOf(key);
  else target.entries.set(hash, { key: target.entries.get(hash)?.key ?? key, value, conditional: false });
}

/** Adds a pair from an iterable. Pairs that may exist are added under a condition. */
export function putPair(machine: Machine, target: Dict, pair: Value): void {
  machine.heap.touch(target);
  for (const one of pair instanceof Several ? pair.items : [pair]) {
    machine.budget.spend();
    if (one instanceof Unknown) {
      target.open ??= one.why;
      continue;
    }
    const parts = [...machine.iterate(one)];
    const [key = null, value = null] = parts;
    if (isCounted(machine, parts) && parts.length !== 2) raise('ValueError', 'a pair is required');
    const hash = pair instanceof Several ? hashKey(machine, key) : undefined;
    const old = hash === undefined ? undefined : target.entries.get(hash);
    put(machine, target, key, old ? join(machine, old.value, value) : value);
    const entry = hash === undefined ? undefined : target.entries.get(hash);
    if (entry) entry.conditional = old?.conditional ?? true;
  }
}

/** Something unknown may have changed the value in place. */
export function leaveOpen(machine: Machine, value: Value, why: string): void {
  const target = plain(value);
  machine.budget.spend();
  if (target instanceof List) {
    machine.heap.touch(target);
    machine.budget.read(target.items.length);
    target.items = [new Several(why, [...target.items, new Unknown(why)])];
  } else if (target instanceof Dict || target instanceof PythonSet) {
    machine.heap.touch(target);
    target.open ??= why;
  }
}

/** Gives a class unsupported methods of Python: each returns something unknown, and may change its object. */
export function addUnfollowed(
  type: Class,
  names: string,
  change: (machine: Machine, self: Value, why: string) => void = changeInPlace,
): void {
  for (const name of names.split(' ')) {
    const why = `the method ${name}`;
    const run: NativeCall = (machine, [self = null]) => {
      change(machine, self, why);
      return new Unknown(why);
    };
    type.define(name, new Native(name, run, true));
  }
}

function changeInPlace(machine: Machine, self: Value, why: string): void {
  const held = plain(self);
  if (held instanceof Dict || held instanceof PythonSet) discard(machine, held, new Unknown(why));
  leaveOpen(machine, self, why);
}

/** The items of a dict or set, one by one; those that may exist come last. */
export function held(
  machine: Machine,
  { entries, open }: Collection,
  pick: (entry: Pick<Entry, 'key' | 'value'>) => Value = ({ key }) => key,
): Value[] {
  machine.budget.spend(entries.size);
  const all = [...entries.values()];
  const sure = all.filter(({ conditional }) => !conditional).map(pick);
  if (sure.length === all.length && open === undefined) return sure;
  const others = all.filter(({ conditional }) => conditional).map(pick);
  if (open !== undefined) others.push(new Unknown(open));
  return [...sure, new Several(open ?? condition, others)];
}

export function addItem(machine: Machine, target: PythonSet, item: Value): void {
  const hash = hashKey(machine, item);
  machine.heap.touch(target);
  if (hash === undefined) target.open ??= reasonOf(item);
  else if (!target.entries.has(hash))
    target.entries.set(hash, { key: item, value: item, conditional: false });
}

/** The value under a key; undefined if absent, Unknown if that can't be decided. */
export function lookUp(machine: Machine, target: Collection, key: Value): Value | undefined {
  const hash = hashKey(machine, key);
  if (hash === undefined) return new Unknown('an unknown key');
  const entry = target.entries.get(hash);
  if (entry) return entry.value;
  return target.open === undefined ? undefined : new Unknown(target.open);
}

export function discard(machine: Machine, target: Collection, key: Value): void {
  const hash = hashKey(machine, key);
  machine.heap.touch(target);
  if (hash !== undefined) target.entries.delete(hash);
  else {
    machine.budget.spend(target.entries.size);
    for (const [other, entry] of target.entries) target.entries.set(other, { ...entry, conditional: true });
  }
}

export function dictOf(machine: Machine, entries: Iterable<readonly [Value, Value]>): Dict {
  const dict = new Dict();
  for (const [key, value] of entries) put(machine, dict, key, value);
  return dict;
}

export function setName(heap: Heap, namespace: Namespace, name: string, value: Value): void {
  heap.touch(namespace);
  namespace.entries.set(name, { key: name, value, conditional: false });
}

export function removeName(heap: Heap, namespace: Namespace, name: string): boolean {
  heap.touch(namespace);
  return namespace.entries.delete(name);
}

/** The plain value of an instance whose class derives from str, a number type, list or dict. */
export function plain(value: Value): Value {
  return value instanceof Instance && value.payload !== undefined ? value.payload : value;
}

/** Why the order of the items is unknown, if there are several. */
export function orderOf(value: Value | undefined): string | undefined {
  const kept = value === undefined ? null : plain(value);
  if (kept instanceof PythonSet) return kept.entries.size > 1 ? 'a set has no order' : undefined;
  const has = kept instanceof Store || kept instanceof Tuple || kept instanceof Iterator;
  return has && !((kept instanceof List || kept instanceof Tuple) && kept.items.length < 2)
    ? kept.order
    : undefined;
}

export function asText(value: Value | undefined): string | undefined {
  const text = value === undefined ? undefined : plain(value);
  return typeof text === 'string' ? text : undefined;
}

/** Whether a value counts as true; undefined if unknown. truth.ts handles objects with their own methods. */
export function plainTruth(machine: Machine, value: Value): boolean | undefined {
  if (value instanceof Unknown) return value.isTrue;
  if (value === null || value === false) return false;
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return value !== 0;
  if (value instanceof List || value instanceof Tuple) {
    for (const item of value.items) {
      if (!(item instanceof Several)) return true;
      machine.budget.spend();
    }
    return value.items.length === 0 ? false : undefined;
  }
  if (value instanceof Range) return value.length > 0n;
  if (value instanceof Dict || value instanceof PythonSet) {
    for (const { conditional } of value.entries.values()) {
      if (!conditional) return true;
      machine.budget.spend();
    }
    return value.entries.size > 0 || value.open !== undefined ? undefined : false;
  }
  return true;
}

/** The start, stop and step of a slice of `length` items, by Python's rules. */
export function sliceBounds({ start, stop, step }: Slice, length: number): number[] | undefined {
  const parts = [start, stop, step].map((part) => plain(part));
  if (parts.some((part) => part !== null && typeof part !== 'bigint' && typeof part !== 'boolean'))
    return undefined;
  const [from, to, stride] = parts.map((part) => (part === null ? undefined : clamp(Number(part))));
  const by = stride ?? 1;
  if (by === 0) raise('ValueError', 'a step must not be zero');
  const [low, high] = by > 0 ? [0, length] : [-1, length - 1];
  const place = (index: number) => Math.min(high, Math.max(low, index < 0 ? index + length : index));
  return [
    from === undefined ? (by > 0 ? low : high) : place(from),
    to === undefined ? (by > 0 ? high : low) : place(to),
    by,
  ];
}

function clamp(index: number): number {
  return Math.max(-(2 ** 40), Math.min(2 ** 40, index));
}

export function slicePart<Part>(items: readonly Part[], slice: Slice): Part[] | undefined {
  const bounds = sliceBounds(slice, items.length);
  if (!bounds) return undefined;
  const [start = 0, stop = 0, step = 1] = bounds;
  const part: Part[] = [];
  for (let index = start; step > 0 ? index < stop : index > stop; index += step)
    part.push(items[index] as Part);
  return part;
}

/** Whether a class is, or derives from, another or one of several; undefined if unknown. */
export function isSubclass(machine: Machine, cls: Class, of: Value): boolean | undefined {
  machine.budget.spend();
  if (of instanceof Tuple) {
    const answers = of.items.map((item) => isSubclass(machine, cls, item));
    if (answers.includes(true)) return true;
    return answers.includes(undefined) ? undefined : false;
  }
  if (!(of instanceof Class)) return undefined;
  if (cls.inherits(of)) return true;
  return cls.outside !== undefined && !of.builtin ? undefined : false;
}

/** Whether a value counts as true; undefined if unknown. */
export function truth(machine: Machine, value: Value): boolean | undefined {
  const held = plain(value);
  if (!(held instanceof Instance)) return plainTruth(machine, held);
  const own = methodOf(held, '__bool__') ?? methodOf(held, '__len__');
  if (own !== undefined) return plainTruth(machine, machine.call(own, [held]));
  return outsideBase(held) === undefined ? true : undefined;
}
