import { addUnfollowed, asText, orderOf, plain, put, truth } from '../values/access.ts';
import { contains, isNumber, numeric, setOf } from '../values/equality.ts';
import { raise } from '../values/builtin-types.ts';
import { Bytes, decoded, encoded, Range, Slice, Tuple, Unknown } from '../values/plain.ts';
import { Dict, List, type Machine, PythonSet, type Value } from '../values/values.ts';
import { textOf } from '../values/text.ts';
import { Class, type Construct, Descriptor, Instance, methodOf, Native } from '../values/objects.ts';
import { allocate, construct, initializePayload, makeClass } from '../language/classes.ts';
import { plainSet } from '../language/attributes.ts';
import { iteratorOf } from '../language/iteration.ts';
import { length } from '../library/builtins.ts';
import { item, plainItem, plainSetItem } from '../language/subscripts.ts';
import { isUtf8, textMethods } from './texts.ts';
import { dictMethods, listMethods, sequenceMethods, setMethods, update } from './collections.ts';
import * as types from '../values/builtin-types.ts';

/** How each built-in class makes a value from its arguments; unknown ones stay unknown. */
const constructors: Record<string, Construct> = {
  object: (_machine, cls) => new Instance(cls),
  str: (machine, _cls, [value = '']) => textOf(machine, value) ?? new Unknown('a text with an unknown part'),
  int: (machine, _cls, args) => integer(machine, args),
  float: (machine, _cls, [value = 0]) => float(machine, plain(value)),
  bool: (machine, _cls, [value = false]) => truth(machine, value) ?? new Unknown('an unknown condition'),
  bytes: (_machine, _cls, [text, encoding]) =>
    (isUtf8(encoding, asText(text) ?? '') ? encoded(asText(text) ?? '') : undefined) ?? new Unknown('bytes'),
  list: sequence(List),
  tuple: sequence(Tuple),
  dict: (machine, _cls, [source], keywords) => {
    const dict = new Dict();
    update(machine, dict, source, keywords);
    return dict;
  },
  set: (machine, _cls, [source]) => makeSet(machine, source, false),
  frozenset: (machine, _cls, [source]) => makeSet(machine, source, true),
  range: (_machine, _cls, args) => range(args.map(plain)),
  slice: (_machine, _cls, [a = null, b, c = null]) =>
    b === undefined ? new Slice(null, a, null) : new Slice(a, b, c),
  property: (_machine, _cls, [getter = null, setter = null], keywords) =>
    new Descriptor('property', keywords.get('fget') ?? getter, keywords.get('fset') ?? setter),
  classmethod: (_machine, _cls, [func = null]) => new Descriptor('classmethod', func),
  staticmethod: (_machine, _cls, [func = null]) => new Descriptor('staticmethod', func),
  type: (machine, cls, args, keywords) => {
    const [name = null, bases = null, namespace = null] = args;
    if (args.length > 1) return makeClass(machine, name, bases, namespace, cls, keywords);
    return name instanceof Unknown ? name : types.typeOf(name);
  },
};

function sequence(Kind: typeof List | typeof Tuple): Construct {
  return (machine, _cls, [source]) => {
    if (source instanceof Unknown) return source;
    return new Kind(source === undefined ? [] : [...machine.iterate(source)], orderOf(source));
  };
}

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
  if (text === undefined || base !== undefined) return new Unknown('a number of unknown origin');
  if (/^[-+]?\d{1,1000}$/.test(text)) return BigInt(text.replace(/^\+/, ''));
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
  return text.length < 100 && /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/.test(text)
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

const objectMethods: types.Methods = {
  __init__: () => null,
  __new__: (machine, [cls = null, ...args], keywords) =>
    cls instanceof Class ? allocate(machine, cls, args, keywords) : null,
  __setattr__: (machine, [self = null, name = null, value = null]) => plainSet(machine, self, name, value),
  __getattribute__: (_machine, [self = null, name = null]) => {
    const own = self instanceof Instance ? self.own(String(name)) : undefined;
    const found = own ?? methodOf(self, String(name));
    return found === undefined ? raise('AttributeError', String(name)) : found;
  },
  __init_subclass__: () => null,
};

const typeMethods: types.Methods = {
  __new__: (machine, [meta = null, name = null, bases = null, space = null], keywords) =>
    bases === null && space === null && meta === types.typeType
      ? types.typeOf(name)
      : makeClass(machine, name, bases, space, meta, keywords),
  __init__: () => null,
  __call__: (machine, [cls = null, ...args], keywords) =>
    cls instanceof Class ? construct(machine, cls, args, keywords) : new Unknown('a call of a class'),
  mro: (_machine, [cls]) => new List(cls instanceof Class ? [...cls.mro] : []),
  __subclasses__: () => new Unknown('the classes derived so far'),
  __setattr__: (machine, [self = null, name = null, value = null]) => plainSet(machine, self, name, value),
};

const itemMethods = {
  __getitem__: (machine, [self = null, key = null]) => plainItem(machine, self, key),
  __setitem__: (machine, [self = null, key = null, value = null]) => {
    plainSetItem(machine, self, key, value);
  },
  __contains__: (machine, [self = null, key = null]) =>
    contains(machine, self, key) ?? new Unknown('an unknown comparison'),
  __len__: (machine, [self = null]) => length(machine, plain(self)),
  __iter__: (machine, [self = null]) => iteratorOf(machine, plain(self)),
  __init__: (machine, [self = null, ...args], keywords) => initializePayload(machine, self, args, keywords),
} satisfies types.Methods;

const makeFromKeys = new Native('fromkeys', (machine, [keys = null, value = null]) => {
  if (keys instanceof Unknown) return keys;
  const dict = new Dict();
  for (const key of machine.iterate(keys)) put(machine, dict, key, value);
  dict.order = orderOf(keys);
  return dict;
});

/** Gives the built-in classes their constructors and methods. All packs share them; none can change them. */
export function equipTypes(): void {
  for (const type of types.namedTypes) type.construct = constructors[type.name];
  types.addMethods(types.objectType, objectMethods);
  types.addMethods(types.typeType, typeMethods);
  types.addMethods(types.strType, {
    ...textMethods,
    __getitem__: (machine, [self = null, key = null]) => item(machine, plain(self), key),
  });
  types.addMethods(types.listType, { ...itemMethods, ...sequenceMethods, ...listMethods });
  types.addMethods(types.tupleType, {
    ...sequenceMethods,
    __getitem__: itemMethods.__getitem__,
    __iter__: itemMethods.__iter__,
  });
  types.addMethods(types.dictType, { ...itemMethods, ...dictMethods });
  types.addMethods(types.setType, { ...setMethods, __init__: itemMethods.__init__ });
  types.addMethods(types.frozensetType, setMethods);
  types.dictType.define('fromkeys', new Descriptor('staticmethod', makeFromKeys));
  addUnfollowed(
    types.strType,
    'casefold center count expandtabs format_map index isascii isprintable maketrans rindex swapcase translate',
  );
  types.addMethods(types.bytesType, {
    decode: (machine, [self, encoding], keywords) => {
      const isKnown =
        self instanceof Bytes && isUtf8(encoding ?? keywords.get('encoding') ?? 'utf-8', self.text);
      machine.budget.text(isKnown ? self.text.length : 0);
      return (isKnown ? decoded(self) : undefined) ?? new Unknown('a text with an unknown part');
    },
    hex: (_machine, [self]) =>
      self instanceof Bytes ? Buffer.from(self.text, 'latin1').toString('hex') : new Unknown('bytes'),
  });
  addUnfollowed(types.intType, 'bit_count bit_length is_integer to_bytes');
  addUnfollowed(types.floatType, 'as_integer_ratio hex is_integer');
  for (const type of [types.listType, types.tupleType]) addUnfollowed(type, 'count');
  for (const type of [types.setType, types.frozensetType])
    addUnfollowed(type, 'clear isdisjoint issubset issuperset pop');
}
