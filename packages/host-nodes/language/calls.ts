import type { StmtNode } from 'py-ast';
import { raise } from '../values/builtin-types.ts';
import { join } from '../values/join.ts';
import { Dict, type Frame, type Keywords, type Machine, Scope, type Value } from '../values/values.ts';
import { BoundMethod, Class, Descriptor, Func, Instance, Native } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { iteratorOf } from './iteration.ts';
import { leaveOpen, put } from '../values/access.ts';
import { settle } from './branches.ts';
import { yields } from './functions.ts';
import { instantiate } from './classes.ts';

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
  if (callee instanceof Instance) {
    const method = callee.cls.find('__call__');
    if (method !== undefined) return call(machine, method, [callee, ...args], keywords);
    if (callee.cls.outside !== undefined) return new Unknown(callee.cls.outside);
  }
  return raise('TypeError', 'object is not callable');
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
