import { raise } from '../values/builtin-types.ts';
import type { Machine } from '../values/machine.ts';
import { Class, Func, Instance } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import { Dict, type Keywords, List, PythonSet, type Value } from '../values/values.ts';
import { bind } from './binding.ts';
import { makeClass, memberOf } from './classes.ts';
import * as types from '../values/builtin-types.ts';

/** Calls a class: a metaclass's `__call__`, then `__new__`, then `__init__`. */
export function instantiate(machine: Machine, cls: Class, args: Value[], keywords: Keywords): Value {
  if (cls.metaclass instanceof Class) {
    const own = cls.metaclass.find('__call__');
    if (own instanceof Func) return machine.call(own, [cls, ...args], keywords);
  }
  return construct(machine, cls, args, keywords);
}

/** Implements `type.__call__`. */
export function construct(machine: Machine, cls: Class, args: Value[], keywords: Keywords): Value {
  if (cls.inherits(types.typeType) && cls !== types.typeType)
    return makeFromMetaclass(machine, cls, args, keywords);
  const [first] = args;
  if (cls.inherits(types.enumType) && !cls.builtin && first !== undefined)
    return memberOf(machine, cls, first);
  const maker = cls.find('__new__');
  const made =
    maker instanceof Func
      ? machine.call(maker, [cls, ...args], keywords)
      : allocate(machine, cls, args, keywords);
  if (!(made instanceof Instance) || !made.cls.inherits(cls)) return made;
  const initialize = cls.find('__init__');
  if (initialize !== undefined) machine.call(initialize, [made, ...args], keywords);
  return made;
}

function makeFromMetaclass(machine: Machine, meta: Class, args: Value[], keywords: Keywords): Value {
  const [name = null, bases = null, namespace = null] = args;
  const maker = meta.find('__new__');
  const made =
    maker instanceof Func
      ? machine.call(maker, [meta, ...args], keywords)
      : makeClass(machine, name, bases, namespace, meta, keywords);
  const initialize = meta.find('__init__');
  if (initialize instanceof Func && made instanceof Class)
    machine.call(initialize, [made, ...args], keywords);
  return made;
}

/** Implements `object.__new__` and its overrides. */
export function allocate(machine: Machine, cls: Class, args: Value[], keywords: Keywords): Value {
  const builtin = cls.mro.find(({ construct: make }) => make !== undefined);
  if (builtin === cls && builtin.construct) return builtin.construct(machine, cls, args, keywords);
  const instance = new Instance(cls);
  if (builtin?.construct) {
    // Dicts, lists and sets start empty: their `__init__` fills them, unless the pack's own doesn't call it.
    const isFilledLater = [types.dictType, types.listType, types.setType].includes(builtin);
    const made = builtin.construct(
      machine,
      cls,
      isFilledLater ? [] : payloadArgs(cls, builtin, args),
      isFilledLater ? new Map() : keywords,
    );
    if (!(made instanceof Instance)) instance.payload = made;
    else if (!cls.builtin) instance.entries = new Map(made.entries);
    if (made instanceof Instance && made.payload !== undefined) instance.payload = made.payload;
  }
  return instance;
}

/** A string or number takes its value from the first argument, even if `__init__` expects others. */
function payloadArgs(cls: Class, builtin: Class, args: Value[]): Value[] {
  const takesOne = [types.strType, types.intType, types.floatType, types.tupleType].includes(builtin);
  return takesOne && cls !== builtin ? args.slice(0, 1) : args;
}

/** `__init__` of `dict`, `list` and `set` for a class derived from them. */
export function initializePayload(machine: Machine, self: Value, args: Value[], keywords: Keywords): Value {
  if (!(self instanceof Instance)) return null;
  const { payload } = self;
  if (payload instanceof Dict) machine.call(machine.attribute(payload, 'update'), args, keywords);
  if (payload instanceof List && args[0] !== undefined)
    machine.call(machine.attribute(payload, 'extend'), args);
  if (payload instanceof PythonSet && args[0] !== undefined)
    machine.call(machine.attribute(payload, 'update'), args);
  return null;
}

/** `super().name`: the next definition after a class, bound to the object. */
export function superAttribute(machine: Machine, after: Class, self: Value, name: string): Value {
  const owner = self instanceof Class ? self : self instanceof Instance ? self.cls : undefined;
  if (!owner) return raise('TypeError', 'super() of a plain value');
  const isMeta = self instanceof Class && !owner.inherits(after) && self.metaclass instanceof Class;
  const order = isMeta && self.metaclass instanceof Class ? self.metaclass : owner;
  const found = order.find(name, after);
  if (found === undefined) {
    if (order.outside !== undefined) return new Unknown(order.outside, `super.${name}`);
    return raise('AttributeError', `'super' object has no attribute '${name}'`);
  }
  if (name === '__new__') return found;
  return bind(
    machine,
    found,
    self instanceof Class && !isMeta ? undefined : self,
    self instanceof Class ? self : order,
  );
}
