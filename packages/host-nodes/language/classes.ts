import type { ClassDef } from 'py-ast';
import {
  builtinType,
  enumType,
  intType,
  objectType,
  raise,
  strType,
  typeType,
} from '../values/builtin-types.ts';
import { asText, dictOf, plain } from '../values/access.ts';
import {
  Dict,
  Frame,
  type Keywords,
  List,
  type Machine,
  PythonSet,
  Scope,
  type Value,
} from '../values/values.ts';
import { BoundMethod, Class, Descriptor, Func, Instance, methodOf, Native } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { LimitReached, limits } from '../limits.ts';
import { docOf } from './functions.ts';
import { equal } from '../values/equality.ts';
import * as types from '../values/builtin-types.ts';

export function defineClass(machine: Machine, node: ClassDef, frame: Frame): Value {
  const bases = node.bases.flatMap((base) =>
    base.nodeType === 'Starred'
      ? [...machine.iterate(machine.evaluate(base.value, frame))]
      : [machine.evaluate(base, frame)],
  );
  const keywords = new Map<string, Value>();
  for (const { arg, value } of node.keywords)
    if (arg !== undefined) keywords.set(arg, machine.evaluate(value, frame));
  const home: { cls?: Class } = {};
  const scope = new Scope(frame.scope, true);
  scope.define('__module__', frame.module.name);
  scope.define('__qualname__', node.name);
  scope.define('__doc__', docOf(node.body));
  const metaclass = keywords.get('metaclass') ?? metaclassOf(bases);
  keywords.delete('metaclass');
  if (metaclass instanceof Class && metaclass.find('__prepare__') !== undefined) {
    const prepare = machine.attribute(metaclass, '__prepare__');
    const prepared = plain(machine.call(prepare, [node.name, new Tuple(bases)], keywords));
    machine.budget.spend(prepared instanceof Dict ? prepared.entries.size : 0);
    if (prepared instanceof Dict) scope.entries = new Map([...prepared.entries, ...scope.entries]);
  }
  machine.execute(node.body, new Frame(frame.module, frame.lines, scope, home));
  const namespace = () =>
    dictOf(
      machine,
      [...scope.entries.values()].map(({ key, value }) => [key, value]),
    );
  const made =
    metaclass instanceof Class && !metaclass.builtin
      ? machine.call(metaclass, [node.name, new Tuple(bases), namespace()], keywords)
      : finish(machine, node.name, bases, scope, metaclass, keywords);
  if (made instanceof Class) home.cls = made;
  return made;
}

function metaclassOf(bases: readonly Value[]): Value {
  for (const base of bases) {
    if (base instanceof Class && base.metaclass !== null) return base.metaclass;
  }
  return null;
}

export function makeClass(
  machine: Machine,
  name: Value,
  bases: Value,
  namespace: Value,
  metaclass: Value,
  keywords: Keywords,
): Value {
  const text = asText(name);
  if (text === undefined) return new Unknown('a class of unknown name');
  const scope = new Scope(undefined, true);
  if (namespace instanceof Dict) {
    for (const { key, value } of namespace.entries.values())
      if (typeof key === 'string') scope.define(key, value);
  }
  const list = bases instanceof Tuple ? [...bases.items] : [new Unknown('unknown bases')];
  const given = metaclass === typeType ? metaclassOf(list) : metaclass;
  const made = finish(machine, text, list, scope, given, keywords);
  if (namespace instanceof Dict && namespace.open !== undefined) made.outside ??= namespace.open;
  return made;
}

function finish(
  machine: Machine,
  name: string,
  bases: readonly Value[],
  scope: Scope,
  metaclass: Value,
  keywords: Keywords,
): Class {
  const cls = new Class(name, bases.length === 0 ? [objectType] : bases);
  machine.budget.spend(1 + scope.entries.size);
  cls.entries = new Map(scope.entries);
  for (const hook of ['__init_subclass__', '__class_getitem__']) {
    const func = cls.own(hook);
    if (func instanceof Func) cls.define(hook, new Descriptor('classmethod', func));
  }
  cls.metaclass = metaclass instanceof Class && metaclass.builtin ? null : metaclass;
  cls.mro = resolutionOrder(machine, cls);
  cls.outside = outsideOf(cls, bases, metaclass);
  for (const base of bases) {
    if (!(base instanceof Class) || base.builtin) continue;
    machine.heap.touch(base.derived);
    base.derived.items.push(cls);
  }
  if (cls.inherits(enumType)) finishEnum(machine, cls);
  nameDescriptors(machine, cls);
  const hook = cls.find('__init_subclass__', cls);
  const func = hook instanceof Descriptor ? hook.func : hook;
  if (func instanceof Func) machine.call(new BoundMethod(cls, func), [], keywords);
  return cls;
}

function outsideOf(cls: Class, bases: readonly Value[], metaclass: Value): string | undefined {
  const unknown = bases.find((base) => !(base instanceof Class));
  if (unknown instanceof Unknown) return `it derives from ${unknown.path || 'something unknown'}`;
  if (unknown !== undefined) return 'it derives from something that is not a class';
  if (metaclass instanceof Unknown) return `its metaclass ${metaclass.path || 'is unknown'}`;
  for (const base of cls.mro.slice(1)) if (base.outside !== undefined) return base.outside;
  return undefined;
}

/** The C3 order of the known classes. */
function resolutionOrder(machine: Machine, cls: Class): Class[] {
  const bases = cls.bases.filter((base) => base instanceof Class);
  const sequences = [...bases.map(({ mro }) => [...mro]), [...bases]];
  const order: Class[] = [cls];
  for (;;) {
    const open = sequences.filter((sequence) => sequence.length > 0);
    machine.budget.spend(open.length + 1);
    if (open.length === 0) break;
    if (order.length > limits.ancestors) throw new LimitReached('a class derives from too many others');
    const head = open
      .map(([first]) => first)
      .find((first) => first && !open.some((sequence) => sequence.indexOf(first) > 0));
    if (!head) return raise('TypeError', 'Cannot create a consistent method resolution order');
    order.push(head);
    for (const sequence of open) if (sequence[0] === head) sequence.shift();
  }
  return order.includes(objectType) ? order : [...order, objectType];
}

function nameDescriptors(machine: Machine, cls: Class): void {
  for (const { key, value } of [...cls.entries.values()]) {
    const hook = methodOf(value, '__set_name__');
    if (hook !== undefined) machine.call(hook, [value, cls, key]);
  }
}

/** The placeholder of `auto()` until the class is finished. */
export const autoType = builtinType('auto');

function finishEnum(machine: Machine, cls: Class): void {
  const members: [string, Value][] = [];
  let last = 0n;
  for (const { key, value } of [...cls.entries.values()]) {
    const name = String(key);
    if (name.startsWith('_') || !isMember(value)) continue;
    const isAuto = value instanceof Instance && value.cls === autoType;
    const content = isAuto ? (cls.inherits(strType) ? name.toLowerCase() : last + 1n) : value;
    if (typeof content === 'bigint') last = content;
    const member = new Instance(cls, cls.inherits(strType) || cls.inherits(intType) ? content : undefined);
    member.define('name', name);
    member.define('_name_', name);
    member.define('value', content);
    member.define('_value_', content);
    cls.define(name, member);
    members.push([name, member]);
  }
  if (members.length > 0) cls.define('_member_map_', dictOf(machine, members));
}

function isMember(value: Value): boolean {
  return ![Func, Descriptor, Native, Class].some((kind) => value instanceof kind);
}

function memberOf(machine: Machine, cls: Class, wanted: Value): Value {
  const members = cls.find('_member_map_');
  const values = members instanceof Dict ? [...members.entries.values()].map(({ value }) => value) : [];
  const isIt = (value: Value) =>
    value === wanted || (value instanceof Instance && equal(machine, value.own('value') ?? null, wanted));
  const found = wanted instanceof Unknown ? wanted : values.find(isIt);
  return found ?? raise('ValueError', 'it is not a valid value');
}

/** Calls a class: a metaclass's `__call__`, then `__new__`, then `__init__`. */
export function instantiate(machine: Machine, cls: Class, args: Value[], keywords: Keywords): Value {
  const own = methodOf(cls, '__call__');
  if (own instanceof Func) return machine.call(own, [cls, ...args], keywords);
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

/** The result of reading a class's attribute: from an instance, or from the class if `self` is undefined. */
export function bind(machine: Machine, found: Value, self: Value | undefined, cls: Class): Value {
  if (found instanceof Func) return self === undefined ? found : new BoundMethod(self, found);
  if (found instanceof Native)
    return found.binds && self !== undefined ? new BoundMethod(self, found) : found;
  if (found instanceof Descriptor) {
    if (found.kind === 'classmethod') return new BoundMethod(cls, found.func);
    if (found.kind === 'staticmethod') return found.func;
    return self === undefined ? found : machine.call(found.func, [self]);
  }
  const getter = methodOf(found, '__get__');
  return getter === undefined ? found : machine.call(getter, [found, self ?? null, cls]);
}
