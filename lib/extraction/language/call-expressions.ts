import type { Call } from 'py-ast';
import { asText, plain } from '../values/access.ts';
import { raise } from '../values/exceptions.ts';
import type { Frame, Machine } from '../values/machine.ts';
import { Dict } from '../values/collections.ts';
import { Class, Instance, Super } from '../values/objects.ts';
import { isCounted, Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { superType } from '../values/builtin-types.ts';

/** `f(a, *b, c=d, **e)`, and the built-ins that look at where they are called. */
export function evaluateCall(machine: Machine, node: Call, frame: Frame): Value {
  const callee = machine.evaluate(node.func, frame);
  const { args, isOpen } = positional(machine, node, frame);
  const keywords = named(machine, node, frame);
  if (callee === superType) return makeSuper(frame, args);
  if (node.func.nodeType === 'Name' && args.length === 0 && keywords.size === 0) {
    const view = ownView(machine, node.func.id, frame);
    if (view !== undefined) return view;
  }
  // How many arguments there are is unknown, and with it what the function does.
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
      isOpen ||= !isCounted(items);
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

/** `**value`: where it is not all known, the key `**` says so. */
function spread(machine: Machine, keywords: Map<string, Value>, value: Value): void {
  if (value instanceof Unknown) keywords.set('**', value);
  else if (value instanceof Dict) {
    machine.budget.spend(value.entries.size);
    for (const entry of value.entries.values()) {
      const name = asText(entry.key);
      if (name === undefined) raise('TypeError', 'keywords must be strings');
      else keywords.set(name, entry.value);
    }
    if (value.open !== undefined) keywords.set('**', new Unknown(value.open));
  }
}

function makeSuper(frame: Frame, [cls, self]: Value[]): Value {
  const after = cls ?? frame.home.cls;
  const object = self ?? frame.self;
  if (after instanceof Class && object !== undefined) return new Super(after, object);
  if (object instanceof Class) return new Super(object, object);
  // While a class body runs, as in a metaclass's `__new__`, the class is not there yet.
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
