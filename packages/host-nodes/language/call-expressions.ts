import type { Call } from 'py-ast';
import { asText, leaveOpen, plain, put } from '../values/access.ts';
import { raise, superType } from '../values/builtin-types.ts';
import { Dict, Frame, type Machine, Scope, type Value } from '../values/values.ts';
import { Class, Instance, Super } from '../values/objects.ts';
import { isCounted, Unknown } from '../values/plain.ts';
import { builtins } from '../library/builtins.ts';
import { update } from '../types/collections.ts';
import { countTokens, parseSource, type Source } from '../source.ts';

/** `f(a, *b, c=d, **e)`, and the built-ins that depend on where they are called. */
export function evaluateCall(machine: Machine, node: Call, frame: Frame): Value {
  const callee = machine.evaluate(node.func, frame);
  const { args, isOpen } = positional(machine, node, frame);
  const keywords = named(machine, node, frame);
  if (callee === superType) return makeSuper(frame, args);
  if (callee === builtins.get('exec') || callee === builtins.get('eval')) {
    return machine.budget.descend(
      () => runText(machine, args, frame),
      () => new Unknown('calls that nest too deeply'),
    );
  }
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

/** `exec` and `eval`: a known text runs as if it were part of the code. */
function runText(machine: Machine, args: Value[], frame: Frame): Value {
  const [code = null, globals = null, locals = globals] = args;
  const text = asText(code)?.trim();
  if (text === undefined) {
    // It may change anything in the module.
    const why = 'it runs a text that is unknown';
    for (const holder of [frame.module, frame.scope ?? frame.module]) {
      machine.heap.touch(holder);
      holder.open ??= why;
      for (const { value } of holder.entries.values()) leaveOpen(machine, value, why);
    }
    return new Unknown(why);
  }
  machine.budget.spend(countTokens(text) + (text.length >> 2));
  const { body, lines } = parsed(text);
  const space = plain(locals);
  const isGlobal = space instanceof Dict && space.owner === frame.module;
  const own = space instanceof Dict && !isGlobal ? new Scope(undefined) : undefined;
  if (own && space instanceof Dict) {
    machine.budget.spend(space.entries.size);
    own.entries = new Map(space.entries);
  }
  const inner = new Frame(frame.module, lines, space === null ? frame.scope : own, frame.home);
  const [first] = body;
  if (body.length === 1 && first?.nodeType === 'Expr') return machine.evaluate(first.value, inner);
  machine.execute(body, inner);
  if (own && space instanceof Dict) {
    for (const { key, value } of own.entries.values()) put(machine, space, key, value);
  }
  return null;
}

function parsed(text: string): Source {
  try {
    return parseSource(text);
  } catch {
    return raise('SyntaxError', 'a text that is not code');
  }
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
