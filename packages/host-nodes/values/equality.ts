import { addItem, hashKey, lookUp, plain } from './access.ts';
import { Dict, List, type Machine, PythonSet, type Value } from './values.ts';
import { methodOf, outsideBase } from './objects.ts';
import { isCounted, isSame, Range, Tuple, Unknown } from './plain.ts';

/** Whether two values are equal; undefined if unknown. Shared parts cost steps each time they occur. */
export function equal(machine: Machine, left: Value, right: Value): boolean | undefined {
  machine.budget.spend();
  if (left instanceof Unknown || right instanceof Unknown) return undefined;
  if (isSame(machine, left, right)) return true;
  const own = ownEqual(machine, left, right) ?? ownEqual(machine, right, left);
  if (own !== undefined) return own === 'unknown' ? undefined : own;
  const [a, b] = [plain(left), plain(right)];
  if (isNumber(a) && isNumber(b)) return numeric(a) === numeric(b) || Number(a) === Number(b);
  if (a instanceof Tuple && b instanceof Tuple) return sameItems(machine, a.items, b.items);
  if (a instanceof List && b instanceof List) return sameItems(machine, a.items, b.items);
  if (a instanceof Dict && b instanceof Dict) return isSame(machine, a, b) || undefined;
  if (isOpen(a) || isOpen(b)) return undefined;
  return isSame(machine, a, b);
}

function ownEqual(machine: Machine, left: Value, right: Value): boolean | 'unknown' | undefined {
  const method = methodOf(left, '__eq__');
  if (method === undefined) return undefined;
  const answer = machine.call(method, [left, right]);
  return typeof answer === 'boolean' ? answer : 'unknown';
}

function isOpen(value: Value): boolean {
  return value instanceof PythonSet || value instanceof Range || outsideBase(value) !== undefined;
}

export function isNumber(value: Value): value is number | bigint | boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
}

export function numeric(value: number | bigint | boolean): number | bigint {
  return typeof value === 'boolean' ? (value ? 1n : 0n) : value;
}

function sameItems(machine: Machine, a: readonly Value[], b: readonly Value[]): boolean | undefined {
  if (!isCounted(machine, a) || !isCounted(machine, b)) return undefined;
  if (a.length !== b.length) return false;
  let isKnown = true;
  for (const [index, item] of a.entries()) {
    const same = equal(machine, item, b[index] ?? null);
    if (same === false) return false;
    if (same === undefined) isKnown = false;
  }
  return isKnown ? true : undefined;
}

/** Less than zero, zero or more, as for a sort; undefined if unknown, or if the two can't be compared. */
export function compare(machine: Machine, left: Value, right: Value): number | undefined {
  machine.budget.spend();
  const [a, b] = [plain(left), plain(right)];
  if (isNumber(a) && isNumber(b)) {
    const [x, y] = [numeric(a), numeric(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return undefined;
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (typeof a === 'string' && typeof b === 'string') {
    machine.budget.text(Math.min(a.length, b.length));
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if ((a instanceof Tuple && b instanceof Tuple) || (a instanceof List && b instanceof List)) {
    for (const [index, item] of a.items.entries()) {
      const other = b.items[index];
      if (other === undefined) return 1;
      const order = compare(machine, item, other);
      if (order !== 0) return order;
    }
    return a.items.length - b.items.length;
  }
  return undefined;
}

/** Whether a container holds an item; undefined if unknown. */
export function contains(machine: Machine, container: Value, item: Value): boolean | undefined {
  const holder = plain(container);
  if (holder instanceof Unknown || item instanceof Unknown) return undefined;
  if (typeof holder === 'string') {
    const part = plain(item);
    machine.budget.text(holder.length);
    return typeof part === 'string' ? holder.includes(part) : undefined;
  }
  if (holder instanceof Dict || holder instanceof PythonSet) return holdsKey(machine, holder, item);
  if (holder instanceof List || holder instanceof Tuple) return holdsItem(machine, holder.items, item);
  return holdsItem(machine, machine.iterate(holder), item);
}

function holdsKey(machine: Machine, holder: Dict | PythonSet, item: Value): boolean | undefined {
  const hash = hashKey(machine, item);
  const entry = hash === undefined ? undefined : holder.entries.get(hash);
  if (entry?.conditional) return undefined;
  const found = lookUp(machine, holder, item);
  return entry ? true : found instanceof Unknown ? undefined : found !== undefined;
}

function holdsItem(machine: Machine, items: Iterable<Value>, item: Value): boolean | undefined {
  let isKnown = true;
  for (const other of items) {
    const same = equal(machine, other, item);
    if (same === true) return true;
    if (same === undefined) isKnown = false;
  }
  return isKnown ? false : undefined;
}

export function setOf(machine: Machine, items: Iterable<Value>, frozen = false): PythonSet {
  const set = new PythonSet(frozen);
  for (const item of items) addItem(machine, set, item);
  return set;
}
