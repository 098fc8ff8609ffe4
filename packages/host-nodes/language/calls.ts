import type { Call, StmtNode } from 'py-ast';
import { raise, superType } from '../values/builtin-types.ts';
import { join, settle } from '../values/branches.ts';
import { Dict, type Frame, type Keywords, type Machine, Scope, type Value } from '../values/values.ts';
import {
  BoundMethod,
  Class,
  Descriptor,
  Func,
  Instance,
  methodOf,
  Native,
  outsideBase,
  Super,
} from '../values/objects.ts';
import { isCounted, Tuple, Unknown } from '../values/plain.ts';
import { iteratorOf } from './iteration.ts';
import { asText, leaveOpen, plain, put } from '../values/access.ts';
import { yields } from './functions.ts';
import { instantiate } from './classes.ts';
import { builtins } from '../library/builtins.ts';
import { update } from '../types/collections.ts';

/** Packages whose functions don't change the lists and dicts that they take. */
const reading =
  /^(?:logging|warnings|pprint|os|sys|json|re|math|typing|functools|itertools|inspect|collections|dataclasses|importlib|asyncio|id|random\.(?!shuffle)|hashlib|struct|numpy|torch|PIL|folder_paths|comfy\w*|server|nodes)\b/;

const none: Keywords = new Map();

export function call(machine: Machine, callee: Value, args: Value[] = [], keywords: Keywords = none): Value {
  machine.budget.spend(1 + ((args.length + keywords.size) >> 2));
  if (callee instanceof Unknown) {
    if (!reading.test(callee.path)) {
      const why = `it is passed to ${callee.path || 'something unknown'}`;
      for (const value of [...args, ...keywords.values()]) leaveOpen(machine, value, why);
    }
    return machine.outside(callee.path === '' ? '' : `${callee.path}()`);
  }
  return machine.budget.descend(
    () => callKnown(machine, callee, args, keywords),
    () => new Unknown('calls that nest too deeply'),
  );
}

function callKnown(machine: Machine, callee: Value, args: Value[], keywords: Keywords): Value {
  if (callee instanceof Native) return callee.run(machine, args, keywords) ?? null;
  if (callee instanceof Func) return callFunction(machine, callee, args, keywords);
  if (callee instanceof BoundMethod) return call(machine, callee.func, [callee.self, ...args], keywords);
  if (callee instanceof Class) return instantiate(machine, callee, args, keywords);
  if (callee instanceof Descriptor) return call(machine, callee.func, args, keywords);
  const method = methodOf(callee, '__call__');
  if (method !== undefined) return call(machine, method, [callee, ...args], keywords);
  const why = outsideBase(callee);
  return why === undefined ? raise('TypeError', 'object is not callable') : new Unknown(why);
}

function callFunction(machine: Machine, func: Func, args: Value[], keywords: Keywords): Value {
  const { code } = func;
  const frame = func.frame.inside(new Scope(func.scope));
  bind(machine, func, frame, args, keywords);
  frame.self = args[0];
  if (!Array.isArray(code.body)) return machine.evaluate(code.body, frame);
  const value = runBody(machine, code.body, frame);
  if (yields(code.body)) return iteratorOf(machine, frame.yielded);
  return value;
}

function runBody(machine: Machine, body: readonly StmtNode[], frame: Frame): Value {
  return settle(machine, machine.execute(body, frame))
    .map((end) => (end?.kind === 'return' ? end.value : null))
    .reduce((left, right) => join(machine, left, right));
}

function bind(machine: Machine, func: Func, frame: Frame, args: Value[], keywords: Keywords): void {
  const { scope } = frame;
  if (!scope) return;
  const parameters = func.code.args;
  const names = [...(parameters.posonlyargs ?? []), ...parameters.args].map(({ arg }) => arg);
  machine.budget.spend(args.length + names.length);
  const rest = new Map(keywords);
  const take = (name: string): Value | undefined => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  // A key that begins with `*` marks keywords from an unknown value.
  const unknown = take('**');
  const define = (name: string, given: Value | undefined, fallback: Value | undefined) => {
    const value = [given, unknown, fallback].find((each) => each !== undefined);
    if (value === undefined) raise('TypeError', `${func.code.name}() is missing the argument '${name}'`);
    else scope.define(name, value);
  };
  for (const [index, name] of names.entries()) {
    const given = index < args.length ? args[index] : take(name);
    define(name, given, func.defaults[index - names.length + func.defaults.length]);
  }
  for (const [index, { arg }] of parameters.kwonlyargs.entries())
    define(arg, take(arg), func.keywordDefaults[index]);
  const surplus = args.slice(names.length);
  if (parameters.vararg) scope.define(parameters.vararg.arg, new Tuple(surplus));
  else if (surplus.length > 0) raise('TypeError', `${func.code.name}() takes fewer arguments`);
  if (parameters.kwarg) {
    const dict = new Dict();
    for (const [key, value] of rest) put(machine, dict, key, value);
    if (unknown instanceof Unknown) dict.open = unknown.why;
    scope.define(parameters.kwarg.arg, dict);
  } else if (rest.size > 0) raise('TypeError', `${func.code.name}() got an unexpected keyword argument`);
}

/** `f(a, *b, c=d, **e)`, and the built-ins that depend on where they are called. */
export function evaluateCall(machine: Machine, node: Call, frame: Frame): Value {
  const callee = machine.evaluate(node.func, frame);
  const { args, isOpen } = positional(machine, node, frame);
  const keywords = named(machine, node, frame);
  if (callee === superType) return makeSuper(frame, args);
  if (callee === builtins.get('exec') || callee === builtins.get('eval')) return runText(machine, frame);
  if (node.func.nodeType === 'Name' && args.length === 0 && keywords.size === 0) {
    const view = ownView(machine, node.func.id, frame);
    if (view !== undefined) return view;
  }
  // The number of arguments is unknown, and with it the result of the function.
  if (isOpen && !(callee instanceof Unknown)) return new Unknown('a call with unknown arguments');
  return machine.call(callee, args, keywords);
}

function positional(machine: Machine, node: Call, frame: Frame): { args: Value[]; isOpen: boolean } {
  const args: Value[] = [];
  let isOpen = false;
  for (const part of node.args) {
    const value = machine.evaluate(part, frame);
    if (part.nodeType !== 'Starred') args.push(value);
    else {
      const items = [...machine.iterate(value)];
      isOpen ||= !isCounted(machine, items);
      args.push(...items);
    }
  }
  return { args, isOpen };
}

function named(machine: Machine, node: Call, frame: Frame): Map<string, Value> {
  const keywords = new Map<string, Value>();
  for (const { arg, value } of node.keywords) {
    const evaluated = machine.evaluate(value, frame);
    if (arg !== undefined && arg !== null) keywords.set(arg, evaluated);
    else spread(machine, keywords, plain(evaluated));
  }
  return keywords;
}

/** `**value`: the key `**` marks a partly unknown one. */
function spread(machine: Machine, keywords: Map<string, Value>, value: Value): void {
  if (value instanceof Unknown) keywords.set('**', value);
  else {
    const dict = new Dict();
    update(machine, dict, value);
    for (const entry of dict.entries.values()) {
      const name = asText(entry.key);
      if (name === undefined) raise('TypeError', 'keywords must be strings');
      else keywords.set(name, entry.value);
    }
    if (dict.open !== undefined) keywords.set('**', new Unknown(dict.open));
  }
}

/** `exec` and `eval`: the text may change anything in the module. */
function runText(machine: Machine, frame: Frame): Value {
  const why = 'it runs a text';
  for (const holder of [frame.module, frame.scope ?? frame.module]) {
    machine.heap.touch(holder);
    holder.open ??= why;
    for (const { value } of holder.entries.values()) leaveOpen(machine, value, why);
  }
  return new Unknown(why);
}

function makeSuper(frame: Frame, [cls, self]: Value[]): Value {
  const after = cls ?? frame.home.cls;
  const object = self ?? frame.self;
  if (after instanceof Class && object !== undefined) return new Super(after, object);
  if (object instanceof Class) return new Super(object, object);
  // While a class body runs, as in a metaclass's `__new__`, the class doesn't exist yet.
  if (object instanceof Instance) return new Super(object.cls, object);
  return new Unknown('super() without a class');
}

/** `globals()`, `locals()`, `vars()` and `dir()` without arguments. */
function ownView(machine: Machine, name: string, frame: Frame): Value | undefined {
  if (name === 'globals') return new Dict(frame.module);
  if (name !== 'locals' && name !== 'vars' && name !== 'dir') return undefined;
  const view = new Dict(frame.scope ?? frame.module);
  return name === 'dir' ? machine.call(machine.attribute(view, 'keys')) : view;
}
