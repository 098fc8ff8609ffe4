import { Dict, List, type Machine, PythonSet, type Value } from '../values/values.ts';
import { addMethods, builtinType, openType, Raised } from '../values/builtin-types.ts';
import {
  BoundMethod,
  Class,
  Descriptor,
  Func,
  Instance,
  methodOf,
  Native,
  type NativeCall,
} from '../values/objects.ts';
import { OutsideModule, Tuple, Unknown } from '../values/plain.ts';
import { isSurelyNoClass } from '../host/packages.ts';
import { dictOf, isSubclass, orderOf, plain, truth } from '../values/access.ts';
import { findAttribute } from '../language/attributes.ts';
import { lazily, names } from './builtins.ts';
import { type Models, natives } from './define.ts';

/** The result of `functools.wraps`: a function with the other's name. */
function dressed(machine: Machine, made: Value, wrapped: Value): Value {
  if (!(made instanceof Func || made instanceof Class)) return made;
  for (const name of ['__module__', '__name__', '__qualname__', '__doc__']) {
    const value = findAttribute(machine, wrapped, name);
    if (value !== undefined) machine.setAttribute(made, name, value);
  }
  machine.setAttribute(made, '__wrapped__', wrapped);
  return made;
}

/** A class, because it has a constructor of another name. */
const chain = builtinType('chain');
chain.construct = (machine, _cls, sources) => chained(machine, sources);
const fromIterable = new Native('from_iterable', (machine, [sources = null]) =>
  sources instanceof Unknown ? sources : chained(machine, machine.iterate(sources)),
);
chain.define('from_iterable', new Descriptor('staticmethod', fromIterable));

function chained(machine: Machine, sources: Iterable<Value>): Value {
  const all = [...sources];
  const unknown = all.find((source) => source instanceof Unknown);
  if (unknown !== undefined) return unknown;
  const order = all.map(orderOf).find((why) => why !== undefined);
  return lazily(function* () {
    for (const source of all) yield* machine.iterate(source);
  }, order);
}

/** `copy.copy` and `copy.deepcopy`. A value is copied only once, so shared parts don't multiply. */
function copied(machine: Machine, value: Value, deep: boolean, known: Map<Value, Value>): Value {
  machine.budget.spend();
  const before = known.get(value);
  if (before !== undefined) return before;
  const own = methodOf(value, deep ? '__deepcopy__' : '__copy__');
  if (own !== undefined) return machine.call(own, deep ? [value, new Dict()] : [value]);
  const inner = (item: Value) => (deep ? copied(machine, item, true, known) : item);
  if (value instanceof List) {
    const list = new List([], value.order);
    known.set(value, list);
    for (const item of value.items) list.items.push(inner(item));
    machine.budget.spend(list.items.length);
    return list;
  }
  if (value instanceof Tuple) return deep ? new Tuple(value.items.map(inner)) : value;
  if (value instanceof Dict || value instanceof PythonSet || value instanceof Instance) {
    const copy =
      value instanceof Dict
        ? new Dict()
        : value instanceof PythonSet
          ? new PythonSet(value.frozen)
          : new Instance(value.cls);
    known.set(value, copy);
    if (value instanceof Dict && copy instanceof Dict) copy.fallback = value.fallback;
    machine.budget.spend(value.entries.size);
    for (const [hash, entry] of value.entries)
      copy.entries.set(hash, { ...entry, value: inner(entry.value) });
    copy.open = value.open;
    copy.order = value.order;
    if (value instanceof Instance && copy instanceof Instance && value.payload !== undefined) {
      copy.payload = copied(machine, value.payload, deep, known);
    }
    return copy;
  }
  return value;
}

/** A context that suppresses the given exceptions. */
const suppress = builtinType('suppress');
suppress.construct = (_machine, cls, args) => new Instance(cls, new Tuple(args));
addMethods(suppress, {
  __enter__: () => null,
  __exit__: (machine, [self = null, type = null]) =>
    type instanceof Class && isSubclass(machine, type, plain(self)) !== false,
});

type Kind = new (...args: never[]) => object;

/** A value from outside isn't a function of the pack; whether it is a class may be decidable. */
function isKind(kind: Kind): NativeCall {
  return (_, [value = null]) => {
    if (!(value instanceof Unknown)) return plain(value) instanceof kind;
    const isNone = value instanceof OutsideModule || (kind === Class && isSurelyNoClass(value));
    return isNone ? false : new Unknown('what it is');
  };
}

const inspection: Record<string, NativeCall> = {
  isclass: isKind(Class),
  isfunction: isKind(Func),
  getmembers: (machine, [value = null, predicate]) => members(machine, value, predicate),
};

function members(machine: Machine, value: Value, predicate: Value | undefined): Value {
  const listed = names(machine, value);
  if (listed instanceof Unknown) return listed;
  const found: Value[] = [];
  for (const name of machine.iterate(listed)) {
    const member = findAttribute(machine, value, String(name));
    if (member === undefined || (predicate && member instanceof Unknown)) continue;
    if (!predicate || truth(machine, machine.call(predicate, [member])) !== false)
      found.push(new Tuple([name, member]));
  }
  return new List(found);
}

const signatureType = openType('Signature');
const parameterType = openType('Parameter');
const empty = builtinType('_empty');
const kinds = 'POSITIONAL_ONLY POSITIONAL_OR_KEYWORD VAR_POSITIONAL KEYWORD_ONLY VAR_KEYWORD';
for (const [at, kind] of kinds.split(' ').entries()) parameterType.define(kind, BigInt(at));
for (const type of [signatureType, parameterType]) type.define('empty', empty);

type Arg = NonNullable<Func['code']['args']['vararg']>;

const signature: NativeCall = (machine, [value = null]) => {
  const called = value instanceof BoundMethod ? value.func : value;
  const func = called instanceof Func ? (called.own('__wrapped__') ?? called) : called;
  if (!(func instanceof Func) || func.isDressed) return new Unknown('a signature');
  const { posonlyargs = [], args, vararg, kwonlyargs, kwarg } = func.code.args;
  const positional = [...posonlyargs, ...args];
  const surplus = func.defaults.length - positional.length;
  /** Evaluated late. Strings, from `from __future__ import annotations`, aren't followed. */
  const annotation = ({ annotation: node }: Arg): Value => {
    if (!node) return empty;
    if (func.frame.module.own('annotations') instanceof Unknown) return new Unknown('an annotation');
    try {
      return machine.evaluate(node, func.frame);
    } catch (error) {
      if (error instanceof Raised) return new Unknown('an annotation');
      throw error;
    }
  };
  const parameter = (node: Arg, kind: bigint, fallback: Value = empty): [string, Value] => {
    const made = new Instance(parameterType);
    const fields = { name: node.arg, kind, default: fallback, annotation: annotation(node) };
    for (const [name, value] of Object.entries(fields)) made.define(name, value);
    return [node.arg, made];
  };
  const all = [
    ...positional.map((arg, at) =>
      parameter(arg, at < posonlyargs.length ? 0n : 1n, func.defaults[at + surplus]),
    ),
    ...(vararg ? [parameter(vararg, 2n)] : []),
    ...kwonlyargs.map((arg, at) => parameter(arg, 3n, func.keywordDefaults[at])),
    ...(kwarg ? [parameter(kwarg, 4n)] : []),
  ];
  const result = new Instance(signatureType);
  result.define('parameters', dictOf(machine, value instanceof BoundMethod ? all.slice(1) : all));
  result.define('return_annotation', new Unknown('an annotation'));
  return result;
};

/** `inspect.signature`: some packs declare their inputs by the annotations of a function. */
export const functionModels: Models = [
  ...natives('functools', {
    partial: (_, [func = null, ...bound], named) =>
      new Native('partial', (machine, args, keywords) =>
        machine.call(func, [...bound, ...args], new Map([...named, ...keywords])),
      ),
    wraps: (_, [wrapped = null]) =>
      new Native('wraps', (machine, [made = null]) => dressed(machine, made, wrapped)),
    update_wrapper: (machine, [made = null, wrapped = null]) => dressed(machine, made, wrapped),
    cached_property: (_, [func = null]) => new Descriptor('property', func),
  }),
  ['itertools.chain', chain],
  ...natives('copy', {
    copy: (machine, [value = null]) => copied(machine, value, false, new Map()),
    deepcopy: (machine, [value = null]) => copied(machine, value, true, new Map()),
  }),
  ...natives('inspect', inspection),
  ...natives('typing', {
    cast: (_, [, value = null]) => value,
  }),
  ['contextlib.suppress', suppress],
  ['inspect.Signature', signatureType],
  ['inspect.Parameter', parameterType],
  ['inspect._empty', empty],
  ...natives('inspect', { signature }),
];
