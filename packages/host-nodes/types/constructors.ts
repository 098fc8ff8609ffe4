import {
  addMethods,
  boolType,
  bytesType,
  classmethodType,
  dictType,
  floatType,
  frozensetType,
  intType,
  listType,
  objectType,
  propertyType,
  rangeType,
  setType,
  sliceType,
  staticmethodType,
  strType,
  tupleType,
  typeOf,
  typeType,
} from '../values/builtin-types.ts';
import { addUnfollowed, asText, dictOf, plain } from '../values/access.ts';
import { isNumber, numeric, setOf } from '../values/equality.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { textOf } from '../values/text.ts';
import { Dict, List, PythonSet } from '../values/collections.ts';
import { Class, type Construct, Descriptor, Instance, Native } from '../values/objects.ts';
import { isSame, Range, Slice, Tuple, Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { makeClass } from '../language/classes.ts';
import { construct, initializePayload, allocate } from '../language/instances.ts';
import { plainSet, findAttribute } from '../language/attributes.ts';
import { item, plainItem, plainSetItem } from '../language/subscripts.ts';
import { truth } from '../language/truth.ts';
import { textMethods } from './texts.ts';
import { dictMethods, listMethods, sequenceMethods, setMethods, update } from './collections.ts';

/** How each built-in class makes a value of its arguments; what is unknown stays unknown. */
const constructors: [Class, Construct][] = [
  [objectType, (_machine, cls) => new Instance(cls)],
  [
    strType,
    (machine, _cls, [value = '']) => textOf(machine, value) ?? new Unknown('a text with an unknown part'),
  ],
  [intType, (machine, _cls, args) => integer(machine, args)],
  [floatType, (machine, _cls, [value = 0]) => float(machine, plain(value))],
  [
    boolType,
    (machine, _cls, [value = false]) => truth(machine, value) ?? new Unknown('an unknown condition'),
  ],
  [bytesType, () => new Unknown('bytes')],
  [
    listType,
    (machine, _cls, [source]) => {
      if (source instanceof Unknown) return source;
      const from = source === undefined ? undefined : plain(source);
      const isSymbolic = from instanceof List && from.symbolic;
      return new List(source === undefined ? [] : [...machine.iterate(source)], isSymbolic);
    },
  ],
  [
    tupleType,
    (machine, _cls, [source]) => {
      if (source instanceof Unknown) return source;
      return new Tuple(source === undefined ? [] : [...machine.iterate(source)]);
    },
  ],
  [
    dictType,
    (machine, _cls, [source = null], keywords) => {
      const dict = new Dict();
      update(machine, dict, source, keywords);
      return dict;
    },
  ],
  [setType, (machine, _cls, [source]) => makeSet(machine, source, false)],
  [frozensetType, (machine, _cls, [source]) => makeSet(machine, source, true)],
  [rangeType, (_machine, _cls, args) => range(args.map(plain))],
  [
    sliceType,
    (_machine, _cls, [a = null, b, c = null]) =>
      b === undefined ? new Slice(null, a, null) : new Slice(a, b, c),
  ],
  [
    propertyType,
    (_machine, _cls, [getter = null, setter = null], keywords) =>
      new Descriptor('property', keywords.get('fget') ?? getter, keywords.get('fset') ?? setter),
  ],
  [classmethodType, (_machine, _cls, [func = null]) => new Descriptor('classmethod', func)],
  [staticmethodType, (_machine, _cls, [func = null]) => new Descriptor('staticmethod', func)],
  [
    typeType,
    (machine, cls, args, keywords) => {
      const [name = null, bases = null, namespace = null] = args;
      if (args.length > 1) return makeClass(machine, name, bases, namespace, cls, keywords);
      return name instanceof Unknown ? name : typeOf(name);
    },
  ],
];

function makeSet(machine: Machine, source: Value | undefined, frozen: boolean): Value {
  if (source === undefined) return new PythonSet(frozen);
  return source instanceof Unknown ? source : setOf(machine, machine.iterate(source), frozen);
}

function integer(machine: Machine, [value = 0n, base]: Value[]): Value {
  const known = plain(value);
  if (known instanceof Unknown) return known;
  if (typeof known === 'number') {
    return Number.isFinite(known)
      ? BigInt(Math.trunc(known))
      : raise('ValueError', 'invalid literal for int()');
  }
  if (isNumber(known)) return numeric(known);
  machine.budget.read(asText(known)?.length ?? 0);
  const text = asText(known)?.trim().replaceAll('_', '');
  if (text === undefined) return new Unknown('a number of unknown origin');
  const radix = base === undefined ? 10 : Number(plain(base));
  if (/^[-+]?\d{1,1000}$/.test(text) && radix === 10) return BigInt(text.replace(/^\+/, ''));
  if (radix !== 10 && /^(?:0[xob])?[\da-z]{1,10}$/i.test(text)) {
    const number = Number.parseInt(text.replace(/^0[xob]/i, ''), radix || 16);
    return Number.isNaN(number) ? raise('ValueError', 'invalid literal for int()') : BigInt(number);
  }
  return raise('ValueError', 'invalid literal for int()');
}

function float(machine: Machine, value: Value): Value {
  if (value instanceof Unknown) return value;
  if (isNumber(value)) return Number(value);
  machine.budget.read(asText(value)?.length ?? 0);
  const text = asText(value)?.trim().toLowerCase();
  if (text === undefined) return new Unknown('a number of unknown origin');
  if (/^[-+]?(?:inf|infinity)$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (text === 'nan') return Number.NaN;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/.test(text) && text.length < 100
    ? Number(text)
    : raise('ValueError', 'invalid literal for float()');
}

function range(args: Value[]): Value {
  const numbers = args.map((arg) => (isNumber(arg) && typeof arg !== 'number' ? BigInt(arg) : undefined));
  if (numbers.includes(undefined)) return new Unknown('a range of unknown length');
  const [first = 0n, second, step = 1n] = numbers;
  if (step === 0n) return raise('ValueError', 'a step must not be zero');
  return second === undefined ? new Range(0n, first, 1n) : new Range(first, second, step);
}

const objectMethods = {
  __init__: () => null,
  __new__: (machine: Machine, [cls = null, ...args]: Value[], keywords: ReadonlyMap<string, Value>) =>
    cls instanceof Class ? allocate(machine, cls, args, keywords) : null,
  __setattr__: (machine: Machine, [self = null, name = null, value = null]: Value[]) =>
    plainSet(machine, self, name, value),
  __getattribute__: (_machine: Machine, [self = null, name = null]: Value[]) => {
    const own = self instanceof Instance ? self.own(String(name)) : undefined;
    if (own !== undefined) return own;
    const found = self instanceof Instance ? self.cls.find(String(name)) : undefined;
    return found === undefined ? raise('AttributeError', String(name)) : found;
  },
  __init_subclass__: () => null,
};

const typeMethods = {
  __new__: (
    machine: Machine,
    [meta = null, name = null, bases = null, space = null]: Value[],
    keywords: ReadonlyMap<string, Value>,
  ) =>
    bases === null && space === null && meta === typeType
      ? typeOf(name)
      : makeClass(machine, name, bases, space, meta, keywords),
  __init__: () => null,
  __call__: (machine: Machine, [cls = null, ...args]: Value[], keywords: ReadonlyMap<string, Value>) =>
    cls instanceof Class ? construct(machine, cls, args, keywords) : new Unknown('a call of a class'),
  mro: (_machine: Machine, [cls]: Value[]) => new List(cls instanceof Class ? [...cls.mro] : []),
  __subclasses__: () => new Unknown('the classes derived so far'),
  __setattr__: (machine: Machine, [self = null, name = null, value = null]: Value[]) =>
    plainSet(machine, self, name, value),
};

const itemMethods = {
  __getitem__: (machine: Machine, [self = null, key = null]: Value[]) => plainItem(machine, self, key),
  __setitem__: (machine: Machine, [self = null, key = null, value = null]: Value[]) => {
    plainSetItem(machine, self, key, value);
    return null;
  },
  __contains__: (machine: Machine, [self = null, key = null]: Value[]) => {
    const method = findAttribute(machine, plain(self), 'count');
    const keys = findAttribute(machine, plain(self), 'keys');
    if (keys === undefined && method === undefined) return new Unknown('an unknown comparison');
    for (const other of machine.iterate(plain(self))) if (isSame(machine, other, key)) return true;
    return false;
  },
  __len__: (machine: Machine, [self = null]: Value[]) => BigInt([...machine.iterate(plain(self))].length),
  __iter__: (machine: Machine, [self = null]: Value[]) => new List([...machine.iterate(plain(self))]),
  __init__: (machine: Machine, [self = null, ...args]: Value[], keywords: ReadonlyMap<string, Value>) =>
    initializePayload(machine, self, args, keywords),
};

const makeFromKeys = new Native('fromkeys', (machine, [keys = null, value = null]) =>
  keys instanceof Unknown
    ? keys
    : dictOf(
        machine,
        [...machine.iterate(keys)].map((key) => [key, value]),
      ),
);
/** Gives the built-in classes their constructors and methods. They are the same for every pack, and none can change them. */
export function equipTypes(): void {
  for (const [type, make] of constructors) type.construct = make;
  addMethods(objectType, objectMethods);
  addMethods(typeType, typeMethods);
  addMethods(strType, {
    ...textMethods,
    __getitem__: (machine, [self = null, key = null]) => item(machine, plain(self), key),
  });
  addMethods(listType, { ...itemMethods, ...sequenceMethods, ...listMethods });
  addMethods(tupleType, {
    ...sequenceMethods,
    __getitem__: itemMethods.__getitem__,
    __iter__: itemMethods.__iter__,
  });
  addMethods(dictType, { ...itemMethods, ...dictMethods });
  addMethods(setType, { ...setMethods, __init__: itemMethods.__init__ });
  addMethods(frozensetType, setMethods);
  dictType.define('fromkeys', new Descriptor('staticmethod', makeFromKeys));
  addUnfollowed(
    strType,
    'casefold center count encode expandtabs index isascii isprintable ljust maketrans rindex rjust swapcase translate zfill',
  );
  addUnfollowed(intType, 'bit_count bit_length is_integer to_bytes');
  addUnfollowed(floatType, 'as_integer_ratio hex is_integer');
  for (const type of [listType, tupleType]) addUnfollowed(type, 'count');
  addUnfollowed(dictType, 'popitem');
  for (const type of [setType, frozensetType])
    addUnfollowed(type, 'clear isdisjoint issubset issuperset pop');
}
