import type { Call } from 'py-ast';
import { asText, leaveOpen, plain } from '../values/access.ts';
import { raise, superType } from '../values/builtin-types.ts';
import { Dict, type Frame, type Machine, type Value } from '../values/values.ts';
import { Class, Instance, Super } from '../values/objects.ts';
import { isCounted, Unknown } from '../values/plain.ts';
import { builtins } from '../library/builtins.ts';
import { update } from '../types/collections.ts';

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
