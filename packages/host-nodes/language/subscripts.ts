import {
  discard,
  hashKey,
  leaveOpen,
  lookUp,
  orderOf,
  plain,
  put,
  sliceBounds,
  slicePart,
} from '../values/access.ts';
import { raise } from '../values/builtin-types.ts';
import { join } from '../values/branches.ts';
import { Dict, List, type Machine, type Value } from '../values/values.ts';
import { Class, Func, methodOf, outsideBase } from '../values/objects.ts';
import { isCounted, Range, Slice, Tuple, Unknown } from '../values/plain.ts';

export function item(machine: Machine, value: Value, key: Value): Value {
  const own = itemMethod(value, '__getitem__');
  if (own !== undefined) return machine.call(own, [value, key]);
  return plainItem(machine, value, key);
}

function itemMethod(value: Value, name: string): Value | undefined {
  const found = methodOf(value, name);
  const isBuiltin = plain(value) !== value && !(found instanceof Func);
  return isBuiltin ? undefined : found;
}

export function plainItem(machine: Machine, value: Value, key: Value): Value {
  const holder = plain(value);
  if (holder instanceof Unknown) return new Unknown(holder.why, holder.path === '' ? '' : `${holder.path}[]`);
  if (holder instanceof Dict) return dictItem(machine, value, holder, key);
  if (key instanceof Unknown) return unknownPosition();
  if (holder instanceof Class) return classItem(machine, holder, key);
  if (key instanceof Slice) return part(machine, holder, key);
  const position = plain(key);
  if (typeof position !== 'bigint' && typeof position !== 'boolean') return notFound(value);
  if (typeof holder === 'string') return at(machine, [...codeUnits(machine, holder)], Number(position));
  if (holder instanceof List || holder instanceof Tuple) {
    const why = orderOf(holder);
    return why === undefined ? at(machine, holder.items, Number(position)) : new Unknown(why);
  }
  if (holder instanceof Range) return at(machine, [...machine.iterate(holder)], Number(position));
  return notFound(value);
}

const unknownPosition = () => new Unknown('an unknown position');

function codeUnits(machine: Machine, text: string): string {
  machine.budget.text(text.length);
  return text;
}

function notFound(value: Value): Value {
  const why = outsideBase(value);
  return why === undefined ? raise('TypeError', 'object is not subscriptable') : new Unknown(why);
}

function at(machine: Machine, items: readonly Value[], position: number): Value {
  if (!isCounted(machine, position < 0 ? items : items.slice(0, position + 1))) return unknownPosition();
  const found = items[position < 0 ? position + items.length : position];
  return found === undefined ? raise('IndexError', 'index out of range') : found;
}

function dictItem(machine: Machine, value: Value, dict: Dict, key: Value): Value {
  const found = lookUp(machine, dict, key);
  // Looking up makes the key.
  if (found instanceof Unknown && dict.fallback !== null) leaveOpen(machine, dict, found.why);
  if (found !== undefined) return found;
  if (dict.fallback !== null) {
    const made = machine.call(dict.fallback);
    put(machine, dict, key, made);
    return made;
  }
  const missing = methodOf(value, '__missing__');
  if (missing !== undefined) return machine.call(missing, [value, key]);
  return raise('KeyError', typeof key === 'string' ? key : 'key');
}

/** `Color['RED']` of an enum; `list[int]` and `Generic[T]` return the class itself. */
function classItem(machine: Machine, cls: Class, key: Value): Value {
  const members = cls.find('_member_map_');
  if (members instanceof Dict) return plainItem(machine, members, key);
  const own = cls.find('__class_getitem__');
  if (own !== undefined) return machine.call(machine.attribute(cls, '__class_getitem__'), [key]);
  return cls;
}

function part(machine: Machine, holder: Value, slice: Slice): Value {
  const cut = <Item>(items: readonly Item[]): Item[] | undefined => {
    machine.budget.spend(items.length >> 2);
    const result = slicePart(items, slice);
    machine.budget.spend(result?.length ?? 0);
    return result;
  };
  const unknown = unknownPosition();
  if (typeof holder === 'string') return cut([...codeUnits(machine, holder)])?.join('') ?? unknown;
  if (holder instanceof Tuple || holder instanceof List) {
    const items = isCounted(machine, holder.items) ? cut(holder.items) : undefined;
    if (!items) return unknown;
    const why = orderOf(holder);
    if (why !== undefined && items.length < holder.items.length) return new Unknown(why);
    return holder instanceof List ? new List(items, why) : new Tuple(items, why);
  }
  return notFound(holder);
}

export function setItem(machine: Machine, target: Value, key: Value, value: Value): void {
  const own = itemMethod(target, '__setitem__');
  if (own !== undefined) machine.call(own, [target, key, value]);
  else plainSetItem(machine, target, key, value);
}

export function plainSetItem(machine: Machine, target: Value, key: Value, value: Value): void {
  const holder = plain(target);
  if (holder instanceof Unknown) return;
  if (holder instanceof Dict) put(machine, holder, key, value);
  else if (holder instanceof List) setListItem(machine, holder, key, value);
  else if (outsideBase(target) === undefined) raise('TypeError', 'object does not support item assignment');
}

function setListItem(machine: Machine, list: List, key: Value, value: Value): void {
  machine.heap.touch(list);
  const { items } = list;
  const isSlice = key instanceof Slice;
  const [start = 0, stop = 0, step] = (isSlice && sliceBounds(key, items.length)) || [];
  const position = plain(key);
  if (isSlice && step === 1 && isCounted(machine, items)) {
    machine.budget.spend(items.length >> 2);
    const fresh = [...machine.iterate(value)];
    list.items = [...items.slice(0, start), ...fresh, ...items.slice(Math.max(start, stop))];
  } else if (isSlice || !isCounted(machine, items)) leaveOpen(machine, list, 'an unknown position');
  else if (typeof position === 'bigint') {
    const index = Number(position) < 0 ? Number(position) + items.length : Number(position);
    if (index < 0 || index >= items.length) raise('IndexError', 'index out of range');
    items[index] = value;
  } else {
    machine.budget.spend(items.length);
    list.items = items.map((item) => join(machine, item, value));
  }
}

export function deleteItem(machine: Machine, target: Value, key: Value): void {
  const own = itemMethod(target, '__delitem__');
  const holder = plain(target);
  if (own !== undefined) machine.call(own, [target, key]);
  else if (holder instanceof Dict) {
    const hash = hashKey(machine, key);
    if (hash !== undefined && holder.open === undefined && !holder.entries.has(hash))
      raise('KeyError', 'key');
    discard(machine, holder, key);
  } else if (holder instanceof List) deleteListItem(machine, holder, key);
}

function deleteListItem(machine: Machine, list: List, key: Value): void {
  machine.heap.touch(list);
  machine.budget.spend(list.items.length >> 2);
  const position = plain(key);
  if (typeof position !== 'bigint' || !isCounted(machine, list.items)) {
    leaveOpen(machine, list, 'an unknown position');
    return;
  }
  const removed = list.items.splice(Number(position), 1);
  if (removed.length === 0) raise('IndexError', 'index out of range');
}
