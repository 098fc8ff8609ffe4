import { addUnfollowed, leaveOpen } from '../values/access.ts';
import { raise } from '../values/builtin-types.ts';
import { Dict, type Keywords, List, type Machine, type Value } from '../values/values.ts';
import { Class, Descriptor, Instance, methodOf, Native } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { autoType } from '../language/classes.ts';
import { setItem } from '../language/subscripts.ts';
import { equal } from '../values/equality.ts';
import { argument, type Models, natives } from './define.ts';
import * as types from '../values/builtin-types.ts';

autoType.construct = (_machine, cls) => new Instance(cls);

function derived(name: string, ...bases: Class[]): Class {
  const type = types.builtinType(name, bases[0]);
  type.mro = [
    type,
    ...new Set(bases.flatMap(({ mro }) => mro.filter((cls) => cls !== types.objectType))),
    types.objectType,
  ];
  return type;
}

const intEnum = derived('IntEnum', types.intType, types.enumType);
const strEnum = derived('StrEnum', types.strType, types.enumType);

/** Reads go through its maps, the first of which takes writes. */
const chainType = types.openType('ChainMap');
chainType.construct = (_machine, cls, maps) => {
  const chain = new Instance(cls);
  chain.define('maps', new List(maps.length > 0 ? maps : [new Dict()]));
  return chain;
};

function mapsOf(self: Value | undefined): Value[] {
  const maps = self instanceof Instance ? self.own('maps') : undefined;
  return maps instanceof List ? maps.items : [new Unknown('unknown maps')];
}

/** The maps as one dict, in Python's order. */
function merged(machine: Machine, self: Value | undefined): Value {
  const dict = machine.call(types.dictType);
  for (const map of mapsOf(self).toReversed()) machine.call(machine.attribute(dict, 'update'), [map]);
  return dict;
}

for (const name of [
  'get',
  'keys',
  'values',
  'items',
  'copy',
  '__len__',
  '__iter__',
  '__getitem__',
  '__contains__',
]) {
  types.addMethods(chainType, {
    [name]: (machine, [self, ...args]) => machine.call(machine.attribute(merged(machine, self), name), args),
  });
}
types.addMethods(chainType, {
  __setitem__: (machine, [self, key = null, value = null]) => {
    setItem(machine, mapsOf(self)[0] ?? null, key, value);
  },
  new_child: (machine, [self, map]) => machine.call(chainType, [map ?? new Dict(), ...mapsOf(self)]),
});
const parents = new Native('parents', (machine, [self]) => machine.call(chainType, mapsOf(self).slice(1)));
chainType.define('parents', new Descriptor('property', parents));
addUnfollowed(chainType, 'clear pop popitem setdefault update __delitem__', (machine, self, why) =>
  leaveOpen(machine, mapsOf(self)[0] ?? null, why),
);

/** The host's schema is one. */
function isDataclass(value: Value): Value {
  if (value instanceof Unknown) return value;
  const cls = value instanceof Instance ? value.cls : value;
  if (!(cls instanceof Class)) return false;
  if (cls.find('__dataclass_fields__') !== undefined || cls.mro.some(({ name }) => name === 'Schema'))
    return true;
  return cls.outside === undefined ? false : new Unknown('a class outside');
}

const dataclassDecorator = new Native('dataclass', (machine, [cls = null]) =>
  cls instanceof Class ? dataclass(machine, cls) : cls,
);

const fieldType = types.builtinType('Field');

function makeField(keywords: Keywords): Instance {
  const field = new Instance(fieldType);
  for (const [name, value] of keywords) field.define(name, value);
  return field;
}

interface Field {
  name: string;
  fallback: Value | undefined;
}

function fieldsOf(machine: Machine, cls: Class): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const base of [...cls.mro].reverse()) {
    const annotations = base.own('__annotations__');
    if (!(annotations instanceof Dict)) continue;
    machine.budget.spend(annotations.entries.size);
    for (const { key } of annotations.entries.values()) {
      const name = String(key);
      fields.set(name, { name, fallback: base.own(name) });
    }
  }
  return fields;
}

function dataclass(machine: Machine, cls: Class): Class {
  const fields = fieldsOf(machine, cls);
  const initialize = new Native(
    '__init__',
    (inner, [self = null, ...args], keywords) => {
      for (const [index, { name, fallback }] of [...fields.values()].entries()) {
        const given = argument(args, keywords, index, name);
        inner.setAttribute(self, name, given === undefined ? initial(inner, name, fallback) : given);
      }
      const after = methodOf(self, '__post_init__');
      if (after !== undefined) inner.call(after, [self]);
    },
    true,
  );
  const compare = new Native('__eq__', (inner, [self, other]) => {
    const rows = [self, other].map((each) => new Tuple([...fields.keys()].map((name) => partOf(each, name))));
    const isOne = self instanceof Instance && other instanceof Instance && self.cls === other.cls;
    return isOne
      ? (equal(inner, rows[0] ?? null, rows[1] ?? null) ?? new Unknown('an unknown comparison'))
      : false;
  });
  if (cls.own('__init__') === undefined) machine.setAttribute(cls, '__init__', initialize);
  if (cls.own('__eq__') === undefined) machine.setAttribute(cls, '__eq__', compare);
  for (const { name, fallback } of fields.values()) {
    if (fallback instanceof Instance && fallback.cls === fieldType) {
      const value = fallback.own('default');
      if (value !== undefined) machine.setAttribute(cls, name, value);
    }
  }
  for (const name of ['__dataclass_fields__', '__match_args__'])
    machine.setAttribute(cls, name, new Tuple([...fields.keys()]));
  return cls;
}

function partOf(value: Value | undefined, name: string): Value {
  return (value instanceof Instance ? value.own(name) : undefined) ?? new Unknown('a field');
}

function initial(machine: Machine, name: string, fallback: Value | undefined): Value {
  if (fallback === undefined) return raise('TypeError', `__init__() is missing the argument '${name}'`);
  if (!(fallback instanceof Instance) || fallback.cls !== fieldType) return fallback;
  const factory = fallback.own('default_factory');
  if (factory !== undefined) return machine.call(factory);
  const value = fallback.own('default');
  return value === undefined ? raise('TypeError', `__init__() is missing the argument '${name}'`) : value;
}

/** Classes that packs derive from or decorate with: enums, abstract classes, dataclasses, collections. */
export const typeModels: Models = [
  ['collections.ChainMap', chainType],
  ['enum.Enum', types.enumType],
  ['enum.IntEnum', intEnum],
  ['enum.Flag', types.enumType],
  ['enum.StrEnum', strEnum],
  ['enum.auto', autoType],
  ['abc.ABC', types.objectType],
  ['abc.ABCMeta', types.typeType],
  ['typing.Generic', types.objectType],
  ['typing.Protocol', types.objectType],
  ['typing.TypedDict', types.dictType],
  ...natives('dataclasses', {
    dataclass: (machine, [cls]) => (cls instanceof Class ? dataclass(machine, cls) : dataclassDecorator),
    field: (_, __, keywords) => makeField(keywords),
    is_dataclass: (_, [value = null]) => isDataclass(value),
  }),
  ...natives('collections', {
    defaultdict: (machine, [fallback = null, source]) => {
      const dict = machine.call(types.dictType, source === undefined ? [] : [source]);
      if (dict instanceof Dict) dict.fallback = fallback;
      return dict;
    },
    deque: (machine, [source, length = null], keywords) =>
      length === null && keywords.size === 0
        ? machine.call(types.listType, source === undefined ? [] : [source])
        : new Unknown('a deque of a length'),
  }),
];
