import { asText } from '../values/access.ts';
import * as types from '../values/builtin-types.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { Dict } from '../values/collections.ts';
import { Class, Instance, Native, type NativeCall } from '../values/objects.ts';
import { Tuple } from '../values/plain.ts';
import type { Keywords, Value } from '../values/values.ts';
import { autoType } from '../language/enums.ts';
import { makeClass } from '../language/classes.ts';
import { argument, type Models, natives } from './define.ts';

const identity: NativeCall = (_, [value = null]) => value;
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

/** Classes that packs derive from or decorate with: enums, abstract classes, dataclasses, collections. */
export function typeModels(): Models {
  return [
    ['enum.Enum', types.enumType],
    ['enum.IntEnum', intEnum],
    ['enum.IntFlag', intEnum],
    ['enum.Flag', types.enumType],
    ['enum.StrEnum', strEnum],
    ['enum.auto', autoType],
    ['enum.EnumMeta', types.typeType],
    ['enum.unique', new Native('unique', identity)],
    ['abc.ABC', types.objectType],
    ['abc.ABCMeta', types.typeType],
    ...natives('abc', { abstractmethod: identity, abstractproperty: identity }),
    ['typing.Generic', types.objectType],
    ['typing.Protocol', types.objectType],
    ['typing.TypedDict', types.dictType],
    ['typing_extensions.TypedDict', types.dictType],
    ...natives('dataclasses', {
      dataclass: (machine, [cls]) => (cls instanceof Class ? dataclass(machine, cls) : dataclassDecorator),
      field: (_, __, keywords) => makeField(keywords),
    }),
    ...natives('collections', {
      defaultdict: (machine, [fallback = null, source]) => {
        const dict = machine.call(types.dictType, source === undefined ? [] : [source]);
        if (dict instanceof Dict) dict.fallback = fallback;
        return dict;
      },
      namedtuple: namedTuple,
      deque: (machine, [source]) => machine.call(types.listType, source === undefined ? [] : [source]),
    }),
  ];
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

/** Gives a class the `__init__` that its annotations ask for. */
function dataclass(machine: Machine, cls: Class): Class {
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
  const initialize = new Native(
    '__init__',
    (inner, [self = null, ...args], keywords) => {
      for (const [index, { name, fallback }] of [...fields.values()].entries()) {
        const given = argument(args, keywords, index, name);
        inner.setAttribute(self, name, given === undefined ? initial(inner, name, fallback) : given);
      }
      const after = self instanceof Instance ? self.cls.find('__post_init__') : undefined;
      if (after !== undefined) inner.call(after, [self]);
      return null;
    },
    true,
  );
  if (cls.own('__init__') === undefined) machine.setAttribute(cls, '__init__', initialize);
  for (const { name, fallback } of fields.values()) {
    if (fallback instanceof Instance && fallback.cls === fieldType) {
      const value = fallback.own('default');
      if (value !== undefined) machine.setAttribute(cls, name, value);
    }
  }
  machine.setAttribute(cls, '__dataclass_fields__', new Tuple([...fields.keys()]));
  return cls;
}

function initial(machine: Machine, name: string, fallback: Value | undefined): Value {
  if (fallback === undefined) return raise('TypeError', `__init__() is missing the argument '${name}'`);
  if (!(fallback instanceof Instance) || fallback.cls !== fieldType) return fallback;
  const factory = fallback.own('default_factory');
  if (factory !== undefined) return machine.call(factory);
  const value = fallback.own('default');
  return value === undefined ? raise('TypeError', `__init__() is missing the argument '${name}'`) : value;
}

function namedTuple(machine: Machine, [name = null, fields = null]: Value[]): Value {
  machine.budget.read(asText(fields)?.length ?? 0);
  const names =
    typeof fields === 'string' ? fields.split(/[\s,]+/) : [...machine.iterate(fields)].map(String);
  const made = makeClass(
    machine,
    asText(name) ?? 'tuple',
    new Tuple([types.objectType]),
    new Dict(),
    null,
    new Map(),
  );
  if (!(made instanceof Class)) return made;
  made.construct = (inner, cls, args, keywords) => {
    inner.budget.spend(names.length);
    const values = names.map((field, index) => argument(args, keywords, index, field) ?? null);
    const instance = new Instance(cls, new Tuple(values));
    for (const [index, field] of names.entries()) instance.define(field, values[index] ?? null);
    return instance;
  };
  return made;
}
