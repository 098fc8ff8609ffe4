import { asText, isSubclass, orderOf, plain, truth } from '../values/access.ts';
import { exceptionTypes, raise } from '../values/builtin-types.ts';
import { reprOf, sizeOf } from '../values/text.ts';
import { BoundMethod, Class, Func, Instance, methodOf, Native, type NativeCall } from '../values/objects.ts';
import {
  ellipsis,
  isCounted,
  Iterator,
  maybe,
  notImplemented,
  OutsideModule,
  Range,
  Several,
  Tuple,
  Unknown,
} from '../values/plain.ts';
import { join } from '../values/branches.ts';
import {
  Dict,
  type Keywords,
  List,
  type Machine,
  Namespace,
  PythonSet,
  type Value,
} from '../values/values.ts';
import { deleteAttribute, findAttribute } from '../language/attributes.ts';
import { iteratorOf } from '../language/iteration.ts';
import { binary } from '../language/operators.ts';
import { sorted } from '../types/collections.ts';
import { isSurelyNoClass, lacksConstant } from '../host/packages.ts';
import { open } from './files.ts';
import { importByName } from './importing.ts';
import { compare } from '../values/equality.ts';
import * as types from '../values/builtin-types.ts';

function* mapped(items: Iterable<Value>, run: (item: Value) => Value): Generator<Value> {
  for (const item of items)
    yield item instanceof Several ? new Several(item.why, item.items.map(run)) : run(item);
}

/** A function whose result is known only if every argument is. */
function known(run: NativeCall): NativeCall {
  return (machine, args, keywords) =>
    args.find((arg) => arg instanceof Unknown) ?? run(machine, args, keywords);
}

const functions: Record<string, NativeCall> = {
  print: () => null,
  len: known((machine, [value = null]) => length(machine, value)),
  isinstance: (machine, [value = null, of = null]) => {
    if (value instanceof Unknown)
      return of === types.typeType && isSurelyNoClass(value) ? false : new Unknown('its class');
    return isSubclass(machine, types.typeOf(value), of) ?? new Unknown('its class');
  },
  issubclass: (machine, [cls = null, of = null]) => {
    if (cls instanceof Class) return isSubclass(machine, cls, of) ?? new Unknown('its class');
    if (cls instanceof OutsideModule) return raise('TypeError', 'issubclass() arg 1 must be a class');
    return new Unknown('its class');
  },
  hasattr: (machine, [value = null, name = null]) => {
    const text = asText(name);
    if (text !== undefined && value instanceof Unknown && lacksConstant(value.path, text)) return false;
    if (text === undefined || value instanceof Unknown) return new Unknown('whether it has an attribute');
    const found = findAttribute(machine, value, text);
    if (mayLack(value, text) || (found instanceof Unknown && isOpen(value, text)))
      return new Unknown('whether it has an attribute');
    return found !== undefined;
  },
  getattr: (machine, [value = null, name = null, fallback]) => {
    const text = asText(name);
    if (text === undefined) return new Unknown('an unknown attribute');
    const found = findAttribute(machine, value, text);
    if (found !== undefined)
      return fallback !== undefined && mayLack(value, text) ? join(machine, found, fallback) : found;
    return fallback === undefined ? machine.attribute(value, text) : fallback;
  },
  setattr: (machine, [target = null, name = null, value = null]) => {
    const text = asText(name);
    if (text !== undefined) machine.setAttribute(target, text, value);
  },
  delattr: (machine, [target = null, name = null]) => {
    deleteAttribute(machine, target, asText(name) ?? '');
  },
  callable: known((_, [value = null]) => {
    if (value instanceof Instance) return methodOf(value, '__call__') !== undefined;
    return [Func, Native, Class, BoundMethod].some((kind) => value instanceof kind);
  }),
  enumerate: known((machine, [source = null, start = 0n], keywords) => {
    const first = keywords.get('start') ?? start;
    const from = typeof first === 'bigint' ? first : 0n;
    const why = orderOf(source);
    return lazily(function* () {
      let index: Value = why === undefined ? from : new Unknown(why);
      for (const item of machine.iterate(source)) {
        if (item instanceof Several) index = new Unknown('an unknown position');
        yield* mapped([item], (one) => new Tuple([index, one]));
        if (typeof index === 'bigint') index += 1n;
      }
    });
  }),
  zip: known(zip),
  map: (machine, [func = null, ...sources]) => {
    const rows = zip(machine, sources);
    const run = (row: Value) => machine.call(func, row instanceof Tuple ? [...row.items] : [row]);
    return lazily(() => mapped(machine.iterate(rows), run), rows.order);
  },
  filter: (machine, [func = null, source = null]) => {
    return lazily(function* () {
      for (const item of machine.iterate(source)) {
        const fits = truth(machine, func === null ? item : machine.call(func, [item]));
        if (fits !== false) yield fits ? item : maybe(item);
      }
    }, orderOf(source));
  },
  sorted: known((machine, [source = null], keywords) => sorted(machine, source, keywords)),
  reversed: known(
    (machine, [source = null]) => new List([...machine.iterate(source)].reverse(), orderOf(source)),
  ),
  iter: (machine, [source = null, end]) =>
    end === undefined ? iteratorOf(machine, source) : new Unknown('an iterator'),
  next: (machine, [source = null, fallback]) => next(machine, source, fallback),
  min: (machine, args, keywords) => extreme(machine, args, keywords, -1),
  max: (machine, args, keywords) => extreme(machine, args, keywords, 1),
  sum: known((machine, [source = null, start = 0n]) => {
    let total = start;
    for (const item of machine.iterate(source)) total = binary(machine, 'Add', total, item);
    return total;
  }),
  any: known((machine, [source = null]) => quantified(machine, source, true)),
  all: known((machine, [source = null]) => quantified(machine, source, false)),
  repr: (machine, [value = null]) => reprOf(machine, value) ?? new Unknown('a text with an unknown part'),
  ord: known((_, [value = null]) => BigInt(asText(value)?.codePointAt(0) ?? 0)),
  vars: (machine, [value = null]) => findAttribute(machine, value, '__dict__') ?? new Unknown('a built-in'),
  dir: (machine, [value = null]) => names(machine, value),
  __import__: importByName,
};

const classes: Record<string, Value> = {
  ...Object.fromEntries(types.namedTypes.map((type) => [type.name, type])),
  NotImplemented: notImplemented,
  Ellipsis: ellipsis,
  IOError: exceptionTypes.get('OSError') ?? null,
  EnvironmentError: exceptionTypes.get('OSError') ?? null,
  __debug__: true,
};

export const builtins: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...Object.entries(functions).map(([name, run]): [string, Value] => [name, new Native(name, run)]),
  ...Object.entries(classes),
  ...exceptionTypes,
  ['open', open],
  ...'globals locals memoryview bytearray complex ascii oct breakpoint id hash input eval exec compile abs round divmod pow format chr hex bin'
    .split(' ')
    .map((name): [string, Value] => [name, new Unknown('a built-in that is not followed', name)]),
]);

/** Whether it has an attribute only under a condition. */
function mayLack(value: Value, name: string): boolean {
  return value instanceof Namespace && value.entries.get(name)?.conditional === true;
}

function isOpen(value: Value, name: string): boolean {
  const cls = value instanceof Instance ? value.cls : value;
  return !(cls instanceof Class) || cls.find(name) === undefined;
}

export function length(machine: Machine, value: Value): Value {
  const holder = plain(value);
  const own = holder === value ? methodOf(value, '__len__') : undefined;
  if (own !== undefined) return machine.call(own, [value]);
  if (typeof holder === 'string') {
    machine.budget.text(holder.length);
    return BigInt(sizeOf(holder));
  }
  if ((holder instanceof List || holder instanceof Tuple) && isCounted(machine, holder.items))
    return BigInt(holder.items.length);
  if (holder instanceof Range) return holder.length;
  if (holder instanceof Dict || holder instanceof PythonSet) {
    machine.budget.spend(holder.entries.size >> 2);
    const isSure =
      holder.open === undefined && ![...holder.entries.values()].some(({ conditional }) => conditional);
    return isSure ? BigInt(holder.entries.size) : new Unknown('how many there are');
  }
  return new Unknown('how many there are');
}

export function lazily(items: () => Generator<Value>, order?: string): Iterator {
  return new Iterator(items(), order);
}

function zip(machine: Machine, sources: readonly Value[]): Iterator {
  const why = sources.map(orderOf).find((order) => order !== undefined);
  return lazily(function* () {
    // It is unknown which items are paired.
    const isMixed = why !== undefined && sources.length > 1;
    const iterators = sources.map((source) => machine.iterate(isMixed ? new Unknown(why) : source));
    while (iterators.length > 0) {
      const row = iterators.map((iterator) => iterator.next());
      if (row.some(({ done }) => done)) return;
      const values = row.map(({ value }) => value);
      const [first, ...others] = values;
      if (isCounted(machine, values)) yield new Tuple(values);
      else if (first instanceof Several && others.length === 0)
        yield new Several(
          first.why,
          first.items.map((item) => new Tuple([item])),
        );
      // From here on it is unknown which items are paired.
      else {
        yield* machine.iterate(new Unknown('an unknown position'));
        return;
      }
    }
  }, why);
}

function next(machine: Machine, source: Value, fallback: Value | undefined): Value {
  if (source instanceof Unknown) return source;
  const own = methodOf(source, '__next__');
  if (own !== undefined) return machine.call(own, [source]);
  const why = orderOf(source);
  if (why !== undefined) return new Unknown(why);
  machine.budget.spend();
  const step = source instanceof Iterator ? source.items.next() : machine.iterate(source).next();
  if (!step.done) return step.value;
  return fallback === undefined ? raise('StopIteration', '') : fallback;
}

function extreme(machine: Machine, args: Value[], keywords: Keywords, sign: number): Value {
  const [first = null] = args;
  if (args.some((arg) => arg instanceof Unknown)) return new Unknown('an unknown comparison');
  const items = args.length === 1 ? [...machine.iterate(first)] : args;
  const key = keywords.get('key') ?? null;
  let best: { item: Value; key: Value } | undefined;
  for (const item of items) {
    const candidate = { item, key: key === null ? item : machine.call(key, [item]) };
    const order = best ? compare(machine, candidate.key, best.key) : sign;
    if (order === undefined) return new Unknown('an unknown comparison');
    if (order * sign > 0) best = candidate;
  }
  if (best) return best.item;
  const fallback = keywords.get('default');
  return fallback === undefined ? raise('ValueError', 'it is not a valid value') : fallback;
}

function quantified(machine: Machine, source: Value, wanted: boolean): Value {
  let isKnown = true;
  for (const item of machine.iterate(source)) {
    const isTrue = truth(machine, item);
    if (isTrue === wanted) return wanted;
    if (isTrue === undefined) isKnown = false;
  }
  return isKnown ? !wanted : new Unknown('an unknown condition');
}

export function names(machine: Machine, value: Value): Value {
  if (value instanceof Unknown) return value;
  const found = new Set<string>();
  const order = value instanceof Instance ? value.cls.mro : value instanceof Class ? value.mro : [];
  const holders = value instanceof Class ? order : [value, ...order];
  for (const holder of holders) {
    const dict = findAttribute(machine, holder, '__dict__');
    if (dict instanceof Dict) for (const { key } of dict.entries.values()) found.add(String(key));
    machine.budget.spend(found.size);
  }
  return new List([...found].sort());
}
