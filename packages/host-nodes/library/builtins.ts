import { asText, isSubclass } from '../values/access.ts';
import * as types from '../values/builtin-types.ts';
import { exceptionTypes, raise } from '../values/exceptions.ts';
import { reprOf } from '../values/text.ts';
import { Class, Func, Instance, List } from '../values/objects.ts';
import {
  BoundMethod,
  ellipsis,
  maybe,
  Native,
  type NativeCall,
  notImplemented,
  OutsideModule,
  Several,
  Tuple,
  Unknown,
  type Value,
} from '../values/values.ts';
import type { Machine } from '../values/machine.ts';
import { deleteAttribute, findAttribute } from '../language/attributes.ts';
import { iteratorOf } from '../language/iteration.ts';
import { binary } from '../language/operators.ts';
import { truth } from '../language/truth.ts';
import { sorted } from '../types/sorting.ts';
import { extreme, lazily, length, names, next, quantified, zip } from './builtin-functions.ts';
import { isSurelyNoClass, lacksConstant } from '../host/packages.ts';
import { open } from './files.ts';
import { importByName } from './importing.ts';

function* mapped(items: Iterable<Value>, run: (item: Value) => Value): Generator<Value> {
  for (const item of items)
    yield item instanceof Several ? new Several(item.why, item.items.map(run)) : run(item);
}

function applied(machine: Machine, func: Value, row: Value): Value {
  return machine.call(func, row instanceof Tuple ? [...row.items] : [row]);
}

/** What is only known where every argument is. */
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
    if (found instanceof Unknown && isOpen(value, text)) return new Unknown('whether it has an attribute');
    return found !== undefined;
  },
  getattr: (machine, [value = null, name = null, fallback]) => {
    const text = asText(name);
    if (text === undefined) return new Unknown('an unknown attribute');
    const found = findAttribute(machine, value, text);
    if (found !== undefined) return found;
    return fallback === undefined ? machine.attribute(value, text) : fallback;
  },
  setattr: (machine, [target = null, name = null, value = null]) => {
    const text = asText(name);
    if (text !== undefined) machine.setAttribute(target, text, value);
    return null;
  },
  delattr: (machine, [target = null, name = null]) => {
    deleteAttribute(machine, target, asText(name) ?? '');
    return null;
  },
  callable: known((_, [value = null]) => {
    if (value instanceof Instance) return value.cls.find('__call__') !== undefined;
    return [Func, Native, Class, BoundMethod].some((kind) => value instanceof kind);
  }),
  enumerate: known((machine, [source = null, start = 0n], keywords) => {
    const first = keywords.get('start') ?? start;
    const from = typeof first === 'bigint' ? first : 0n;
    return lazily(function* () {
      let index: Value = from;
      for (const item of machine.iterate(source)) {
        if (item instanceof Several) index = new Unknown('an unknown position');
        yield* mapped([item], (one) => new Tuple([index, one]));
        if (typeof index === 'bigint') index += 1n;
      }
    });
  }),
  zip: known((machine, sources) => zip(machine, sources)),
  map: (machine, [func = null, ...sources]) => {
    const rows = zip(machine, sources);
    return lazily(() => mapped(machine.iterate(rows), (row) => applied(machine, func, row)));
  },
  filter: (machine, [func = null, source = null]) => {
    return lazily(function* () {
      for (const item of machine.iterate(source)) {
        const fits = truth(machine, func === null ? item : machine.call(func, [item]));
        if (fits !== false) yield fits ? item : maybe(item);
      }
    });
  },
  sorted: known(
    (machine, [source = null], keywords) => new List(sorted(machine, machine.iterate(source), keywords)),
  ),
  reversed: known((machine, [source = null]) => new List([...machine.iterate(source)].reverse())),
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
  compile: (_, [text = null]) => text,
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
  ...'globals locals memoryview bytearray complex ascii oct breakpoint id hash input eval exec abs round divmod pow format chr hex bin'
    .split(' ')
    .map((name): [string, Value] => [name, new Unknown('a built-in that is not followed', name)]),
]);

function isOpen(value: Value, name: string): boolean {
  const cls = value instanceof Instance ? value.cls : value;
  return !(cls instanceof Class) || cls.find(name) === undefined;
}
