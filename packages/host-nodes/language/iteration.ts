import { held, orderOf, plain } from '../values/access.ts';
import { raise } from '../values/builtin-types.ts';
import { Dict, List, type Machine, PythonSet, type Value } from '../values/values.ts';
import { Class, methodOf, outsideBase } from '../values/objects.ts';
import { Iterator, Range, Several, Tuple, Unknown } from '../values/plain.ts';

/** The items of an iterable. Each takes a step. An unknown iterable has several unknown items. */
export function* iterate(machine: Machine, value: Value): Generator<Value> {
  const known = plain(value);
  const method = methodOf(value, '__iter__');
  if (method !== undefined) {
    const items = machine.call(method, [value]);
    yield* iterate(machine, methodOf(items, '__next__') !== undefined ? new Unknown('an iterator') : items);
  } else if (known instanceof List || known instanceof Tuple) yield* counted(machine, known);
  else if (known instanceof Dict || known instanceof PythonSet) yield* held(machine, known);
  else if (typeof known === 'string') yield* characters(machine, known);
  else if (known instanceof Range) yield* numbers(machine, known);
  else if (known instanceof Iterator) yield* taken(machine, known);
  else if (value instanceof Class && value.own('_member_map_') instanceof Dict) {
    yield* iterate(machine, machine.call(machine.attribute(value.own('_member_map_') ?? null, 'values')));
  } else if (known instanceof Unknown) {
    const path = known.path && `${known.path}[]`;
    yield known instanceof Several ? known : new Several(known.why, [new Unknown(known.why, path)]);
  } else if (isOutside(value)) yield new Several('a class outside', [new Unknown('a class outside')]);
  else raise('TypeError', 'object is not iterable');
}

function isOutside(value: Value): boolean {
  return (
    outsideBase(value) !== undefined ||
    (value instanceof Class && (value.outside !== undefined || value.metaclass !== null))
  );
}

function* characters(machine: Machine, text: string): Generator<string> {
  for (const character of text) {
    machine.budget.spend();
    yield character;
  }
}

/** Lists may grow during iteration, as in Python. */
function* counted(machine: Machine, sequence: List | Tuple): Generator<Value> {
  for (let index = 0; index < sequence.items.length; index += 1) {
    const item = sequence.items[index] ?? null;
    machine.budget.spend(item instanceof Several ? 1 + (item.items.length >> 2) : 1);
    yield item;
  }
}

function* numbers(machine: Machine, { start, length, step }: Range): Generator<Value> {
  for (let index = 0n; index < length; index += 1n) {
    machine.budget.spend();
    yield start + index * step;
  }
}

function* taken(machine: Machine, { items }: Iterator): Generator<Value> {
  for (;;) {
    machine.budget.spend();
    const { done, value } = items.next();
    if (done) return;
    yield value;
  }
}

/** `iter(value)`: an iterator that yields each item once. */
export function iteratorOf(machine: Machine, value: Value): Value {
  if (value instanceof Unknown || value instanceof Iterator) return value;
  return new Iterator(machine.iterate(value), orderOf(value));
}
