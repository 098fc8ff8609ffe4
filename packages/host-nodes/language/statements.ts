import type { ExceptHandler, ExprNode, StmtNode } from 'py-ast';
import { isSubclass, orderOf, put, removeName, truth } from '../values/access.ts';
import { exceptionOf, exceptionType, raise, Raised } from '../values/builtin-types.ts';
import {
  type Completion,
  Dict,
  type Doubts,
  type Frame,
  List,
  type Machine,
  Module,
  type Value,
} from '../values/values.ts';
import { Class, Func, Instance } from '../values/objects.ts';
import { Several, Tuple, Unknown } from '../values/plain.ts';
import { assign, readName, remove, writeName } from './names.ts';
import { defineClass } from './classes.ts';
import { branch, join, proceed, settle } from '../values/branches.ts';
import { defineFunction, type Definition } from './functions.ts';
import { inPlace } from './operators.ts';
import { item, setItem } from './subscripts.ts';
import { partsOf } from '../source.ts';
import { findAttribute } from './attributes.ts';

type Node<Kind extends StmtNode['nodeType']> = Extract<StmtNode, { nodeType: Kind }>;
type Rules = {
  [Kind in StmtNode['nodeType']]?: (
    machine: Machine,
    node: Node<Kind>,
    frame: Frame,
  ) => Completion | undefined;
};

/** Runs one branch of an unknown condition. Drops it if it raises, but a handler of the exception may still run. */
function runWay(machine: Machine, body: readonly StmtNode[], frame: Frame): Completion {
  try {
    return machine.execute(body, frame);
  } catch (error) {
    if (error instanceof Raised && body.at(-1)?.nodeType === 'Raise') machine.doubts.raised ??= error;
    const code = frame.lines.slice((body[0]?.lineno ?? 1) - 1, body.at(-1)?.end_lineno ?? 0);
    if (code.some((line) => line.includes('NODE_CLASS_MAPPINGS'))) machine.blame(error);
    throw error;
  }
}

const rules: Rules = {
  Expr: (machine, { value }, frame) => {
    machine.evaluate(value, frame);
  },
  Assign: (machine, { targets, value }, frame) => {
    const result = machine.evaluate(value, frame);
    for (const target of targets) assign(machine, target, result, frame);
  },
  AnnAssign: runAnnotated,
  AugAssign: runAugmented,
  Delete: (machine, { targets }, frame) => {
    for (const target of targets) remove(machine, target, frame);
  },
  If: (machine, { test, body, orelse }, frame) => {
    const isTrue = truth(machine, machine.evaluate(test, frame));
    if (isTrue !== undefined) return machine.execute(isTrue ? body : orelse, frame);
    return branch(
      machine,
      [body, orelse].map((way) => () => runWay(machine, way, frame)),
    );
  },
  For: runFor,
  AsyncFor: (machine, node, frame) => runFor(machine, { ...node, nodeType: 'For' }, frame),
  While: (machine, node, frame) =>
    run(machine, whileTurns(machine, node, frame), () => machine.execute(node.orelse, frame)),
  Match: runMatch,
  Try: runTry,
  TryStar: (machine, node, frame) => runTry(machine, { ...node, nodeType: 'Try' }, frame),
  With: runWith,
  AsyncWith: (machine, node, frame) => runWith(machine, { ...node, nodeType: 'With' }, frame),
  FunctionDef: runFunction,
  AsyncFunctionDef: runFunction,
  ClassDef: (machine, node, frame) => {
    writeName(machine, node.name, decorate(machine, node, frame, defineClass(machine, node, frame)), frame);
  },
  Return: (machine, { value }, frame) => ({
    kind: 'return',
    value: value ? machine.evaluate(value, frame) : null,
  }),
  Break: () => ({ kind: 'break' }),
  Continue: () => ({ kind: 'continue' }),
  Raise: runRaise,
  Assert: (machine, { test, msg }, frame) => {
    if (truth(machine, machine.evaluate(test, frame)) !== false) return undefined;
    const message = msg ? [machine.evaluate(msg, frame)] : [];
    throw new Raised(exceptionOf(exceptionType('AssertionError'), message), 'assertion failed');
  },
  Import: runImport,
  ImportFrom: runImportFrom,
  Global: (_, { names }, frame) => {
    for (const name of names) frame.scope?.elsewhere.set(name, 'global');
  },
  Nonlocal: (_, { names }, frame) => {
    for (const name of names) frame.scope?.elsewhere.set(name, 'nonlocal');
  },
  TypeAlias: (machine, { name, value }, frame) => {
    assign(machine, name, machine.evaluate(value, frame), frame);
  },
};

/** Runs statements in order until one of them leaves. */
export function execute(machine: Machine, body: readonly StmtNode[], frame: Frame): Completion {
  for (const [index, node] of body.entries()) {
    machine.budget.spend();
    machine.at(frame.module, node);
    const rule = rules[node.nodeType] as
      | ((machine: Machine, node: StmtNode, frame: Frame) => Completion | undefined)
      | undefined;
    const completion = rule?.(machine, node, frame);
    if (completion) return proceed(machine, completion, () => execute(machine, body.slice(index + 1), frame));
  }
  return undefined;
}

function runFunction(machine: Machine, node: Definition, frame: Frame): undefined {
  const func = defineFunction(machine, node, frame);
  writeName(machine, node.name, decorate(machine, node, frame, func), frame);
}

type Decorated = { decorator_list: Parameters<Machine['evaluate']>[0][] };

/** An unknown decorator returns its target unchanged: most only register it. */
function decorate(machine: Machine, { decorator_list: nodes }: Decorated, frame: Frame, made: Value): Value {
  const decorators = nodes.map((node) => machine.evaluate(node, frame));
  let value = made;
  for (const decorator of decorators.reverse()) {
    if (decorator instanceof Unknown && value instanceof Func) value.isDressed = true;
    const result = decorator instanceof Unknown ? value : machine.call(decorator, [value]);
    if (!(result instanceof Unknown)) value = result;
  }
  return value;
}

function runAnnotated(machine: Machine, node: Node<'AnnAssign'>, frame: Frame): undefined {
  const { target, annotation, value } = node;
  if (value) assign(machine, target, machine.evaluate(value, frame), frame);
  if (!frame.scope?.isClassBody || target.nodeType !== 'Name') return;
  const known = frame.scope.own('__annotations__');
  const annotations = known instanceof Dict ? known : new Dict();
  put(machine, annotations, target.id, annotationOf(machine, annotation, frame));
  writeName(machine, '__annotations__', annotations, frame);
}

/** Annotations may fail to evaluate: their names may be defined later or never. */
function annotationOf(machine: Machine, node: Node<'AnnAssign'>['annotation'], frame: Frame): Value {
  try {
    return machine.evaluate(node, frame);
  } catch (error) {
    if (error instanceof Raised) return new Unknown('an annotation');
    throw error;
  }
}

function runAugmented(machine: Machine, { target, op, value }: Node<'AugAssign'>, frame: Frame): undefined {
  const changed = (current: Value) => inPlace(machine, op.nodeType, current, machine.evaluate(value, frame));
  if (target.nodeType === 'Name') {
    writeName(machine, target.id, changed(readName(machine, target.id, frame)), frame);
  } else if (target.nodeType === 'Subscript') {
    const holder = machine.evaluate(target.value, frame);
    const key = machine.evaluate(target.slice, frame);
    setItem(machine, holder, key, changed(item(machine, holder, key)));
  } else if (target.nodeType === 'Attribute') {
    const holder = machine.evaluate(target.value, frame);
    machine.setAttribute(holder, target.attr, changed(machine.attribute(holder, target.attr)));
  }
}

function runRaise(machine: Machine, { exc }: Node<'Raise'>, frame: Frame): never {
  if (!exc) {
    const handled = frame.handled.at(-1);
    if (handled === undefined) return raise('RuntimeError', 'No active exception to reraise');
    throw new Raised(handled);
  }
  const value = machine.evaluate(exc, frame);
  if (!(value instanceof Class)) throw new Raised(value);
  throw new Raised(value.builtin ? exceptionOf(value, []) : machine.call(value, []));
}

type Turns = Generator<(returned: Value[]) => Completion>;

function runFor(machine: Machine, node: Node<'For'>, frame: Frame): Completion {
  const source = machine.evaluate(node.iter, frame);
  const why = orderOf(source);
  const orelse = () => machine.execute(node.orelse, frame);
  const over = (items: Iterable<Value>, last: () => Completion) =>
    run(machine, forTurns(machine, node, items, frame), last);
  if (why === undefined) return over(machine.iterate(source), orelse);
  const items = [...machine.iterate(source)];
  const last = () => {
    forget(machine, node, why, frame);
    return orelse();
  };
  return machine.heap.inAnyOrder(why, () =>
    endsEarly(machine, node)
      ? branch(machine, [() => over(items, last), () => over(items.toReversed(), last)])
      : over(items, last),
  );
}

/** Whether a turn may be the last: another order may then end with another item. */
function endsEarly(machine: Machine, { body }: Node<'For'>): boolean {
  const parts = partsOf(body);
  machine.budget.read(parts.length);
  return parts.some(({ nodeType }) => nodeType === 'Break' || nodeType === 'Return');
}

/** What the last of several items leaves behind depends on their order, but for what each leaves, and counts. */
function forget(machine: Machine, { target, body }: Node<'For'>, why: string, frame: Frame): void {
  const set = body.flatMap((node) => (node.nodeType === 'Assign' ? node.targets : []));
  const added = body.flatMap((node) => (node.nodeType === 'AugAssign' ? [node.target] : []));
  const leave = (each: ExprNode, kept: string) => {
    const held = each.nodeType === 'Name' ? (frame.scope ?? frame.module).own(each.id) : undefined;
    if (held !== undefined && typeof held !== kept) assign(machine, each, new Unknown(why), frame);
  };
  for (const each of [target, ...set]) leave(each, 'boolean');
  for (const each of added) leave(each, 'bigint');
}

/**
 * For an item that may exist, the loop follows both cases. If the number of items is unknown, a second turn
 * starts from the first one's possible changes, so that a counter doesn't look like one.
 */
function* forTurns(machine: Machine, node: Node<'For'>, items: Iterable<Value>, frame: Frame): Turns {
  for (const item of items) {
    if (item instanceof Several) {
      const turn = (returned: Value[]) =>
        branch(machine, [
          () => loop(machine, forTurns(machine, node, item.items, frame), undefined, returned, false),
          () => undefined,
        ]);
      yield turn;
      if (machine.budget.isShallow && item.items.some((one) => one instanceof Unknown)) yield turn;
    } else {
      yield () => {
        assign(machine, node.target, item, frame);
        return machine.execute(node.body, frame);
      };
    }
  }
}

/** Under an unknown condition, the body runs as for unknown items. */
function* whileTurns(machine: Machine, { test, body }: Node<'While'>, frame: Frame): Turns {
  for (;;) {
    machine.budget.spend();
    const isTrue = truth(machine, machine.evaluate(test, frame));
    if (isTrue === false) return;
    const turn = () => machine.execute(body, frame);
    const unsure = () => branch(machine, [turn, () => undefined]);
    yield isTrue ? turn : unsure;
    if (isTrue) continue;
    if (machine.budget.isShallow) yield unsure;
    return;
  }
}

function run(machine: Machine, turns: Turns, orelse: () => Completion): Completion {
  const returned: Value[] = [];
  const completion = loop(machine, turns, orelse, returned, true);
  if (returned.length === 0) return completion;
  const value = returned.reduce((left, right) => join(machine, left, right));
  return branch(machine, [() => completion, () => ({ kind: 'return', value })]);
}

/**
 * Runs the turns, and then the `else`; without one, these are turns of a loop around this one, which hears of a `break`.
 * Once a turn may have left the loop, everything after it may not have happened: that is one way, the end of
 * the loop another. Within that way nothing leaves any more, so a long loop doesn't nest.
 */
function loop(
  machine: Machine,
  turns: Turns,
  orelse: (() => Completion) | undefined,
  returned: Value[],
  isSure: boolean,
): Completion {
  const leave = () => (orelse ? undefined : ({ kind: 'break' } as const));
  let isLeft = false;
  for (;;) {
    const { done, value: turn } = turns.next();
    if (done && orelse) return orelse();
    if (done) return isLeft ? branch(machine, [leave, () => undefined]) : undefined;
    const ends = settle(machine, turn(returned));
    const left = ends.filter((end) => end?.kind === 'return' || end?.kind === 'break');
    const values = left.flatMap((end) => (end?.kind === 'return' ? [end.value] : []));
    if (left.length === 1 && ends.length === 1) return values.length === 1 ? ends[0] : leave();
    returned.push(...values);
    if (left.length === ends.length) return leave();
    isLeft ||= left.length > 0;
    if (left.length > 0 && isSure)
      return branch(machine, [() => loop(machine, turns, orelse, returned, false), () => undefined]);
  }
}

/** Unknown code is assumed to succeed: a handler runs only for code that certainly raises. */
function runTry(machine: Machine, node: Node<'Try'>, frame: Frame): Completion {
  try {
    const completion = tryBody(machine, node, frame);
    const last = () => machine.execute(node.finalbody, frame);
    return completion?.kind === 'split' ? proceed(machine, completion, last) : (last() ?? completion);
  } catch (error) {
    if (!(error instanceof Raised)) throw error;
    const completion = machine.execute(node.finalbody, frame);
    if (completion) return completion;
    throw error;
  }
}

function tryBody(machine: Machine, node: Node<'Try'>, frame: Frame): Completion {
  const raisesAgain = node.handlers.some(({ body }) => body.some(({ nodeType }) => nodeType === 'Raise'));
  const goesOn = node.handlers.length > 0 && !raisesAgain;
  const listed = goesOn ? listings(machine, frame) : undefined;
  const outer = machine.doubts;
  const doubts: Doubts = {};
  machine.doubts = doubts;
  let completion: Completion;
  try {
    completion = machine.execute(node.body, frame);
  } catch (error) {
    if (!(error instanceof Raised)) throw error;
    const handler = handlerOf(machine, node, error, frame);
    if (!handler) throw error;
    machine.doubts = outer;
    return handle(machine, handler, error, frame);
  } finally {
    machine.doubts = outer;
  }
  const { isMissing } = doubts;
  const raised = doubts.raised instanceof Raised ? doubts.raised : undefined;
  const handler = raised && goesOn ? handlerOf(machine, node, raised, frame) : undefined;
  if (!handler) outer.raised ??= raised;
  if (!goesOn) outer.isMissing ||= isMissing;
  const goOn = () => proceed(machine, completion, () => machine.execute(node.orelse, frame));
  const doubt = () => listed && doubtAdditions(machine, frame, listed);
  if (isMissing) doubt();
  if (!raised || !handler || completion !== undefined) return goOn();
  const handled = () => {
    doubt();
    return handle(machine, handler, raised, frame);
  };
  return branch(machine, [goOn, handled]);
}

function handlerOf(machine: Machine, { handlers }: Node<'Try'>, error: Raised, frame: Frame) {
  return handlers.find((handler) => takes(machine, handler, error, frame));
}

/** The reachable dicts with their sizes: those that list nodes are among them. */
function listings(machine: Machine, { module, scope }: Frame): Map<Dict, number> {
  const found = new Map<Dict, number>();
  for (const { entries } of scope ? [module, scope] : [module]) {
    machine.budget.read(entries.size);
    for (const { value } of entries.values()) if (value instanceof Dict) found.set(value, value.entries.size);
  }
  machine.budget.spend(found.size);
  return found;
}

/** Classes listed next to an outside import exist only if that import succeeds. */
function doubtAdditions(machine: Machine, frame: Frame, before: ReturnType<typeof listings>): void {
  for (const [dict, size] of listings(machine, frame)) {
    machine.budget.spend(size);
    const from = before.get(dict) ?? 0;
    const added = [...dict.entries].filter(([, { value }], at) => at >= from && value instanceof Class);
    if (added.length === 0) continue;
    machine.heap.touch(dict);
    for (const [key, entry] of added) dict.entries.set(key, { ...entry, conditional: true });
  }
}

function takes(machine: Machine, { type }: ExceptHandler, { value }: Raised, frame: Frame): boolean {
  if (!type) return true;
  const wanted = machine.evaluate(type, frame);
  if (!(value instanceof Instance)) return true;
  return isSubclass(machine, value.cls, wanted) !== false;
}

function handle(machine: Machine, handler: ExceptHandler, { value }: Raised, frame: Frame): Completion {
  const { name, body } = handler;
  if (name) writeName(machine, name, value, frame);
  frame.handled.push(value);
  try {
    return machine.execute(body, frame);
  } finally {
    frame.handled.pop();
    if (name) removeName(machine.heap, frame.scope ?? frame.module, name);
  }
}

function runWith(machine: Machine, { items, body }: Node<'With'>, frame: Frame): Completion {
  const exits = items.map(({ context_expr, optional_vars }) => {
    const manager = machine.evaluate(context_expr, frame);
    const enter = manager instanceof Unknown ? undefined : findAttribute(machine, manager, '__enter__');
    const entered = enter === undefined ? new Unknown('a context') : machine.call(enter);
    if (optional_vars) assign(machine, optional_vars, entered, frame);
    return manager instanceof Unknown ? undefined : findAttribute(machine, manager, '__exit__');
  });
  const leave = (error: Raised | undefined): boolean => {
    const value = error?.value ?? null;
    const type = value instanceof Instance ? value.cls : null;
    return exits.some((exit) => exit !== undefined && machine.call(exit, [type, value, null]) === true);
  };
  let completion: Completion;
  try {
    completion = machine.execute(body, frame);
  } catch (error) {
    if (error instanceof Raised && leave(error)) return undefined;
    throw error;
  }
  leave(undefined);
  return completion;
}

/** Patterns are not followed: any case may apply, or none, and what a pattern names is unknown. */
function runMatch(machine: Machine, { subject, cases }: Node<'Match'>, frame: Frame): Completion {
  machine.evaluate(subject, frame);
  const ways = cases.map(({ pattern, body }) => () => {
    const parts = partsOf([pattern]);
    machine.budget.spend(parts.length);
    for (const name of parts.flatMap((part) => [part.name, part.rest]))
      if (typeof name === 'string') writeName(machine, name, new Unknown('a part of what is matched'), frame);
    return machine.execute(body, frame);
  });
  return branch(machine, [...ways, () => undefined]);
}

/** `import a.b.c as d`: with `as` the last module, without it the first. */
function runImport(machine: Machine, { names }: Node<'Import'>, frame: Frame): undefined {
  for (const { name, asname } of names) {
    const module = machine.modules.importNamed(name, 0, frame.module);
    const first = asname || (name.split('.', 1)[0] ?? name);
    const isWhole = asname || first === name;
    const bound = isWhole ? module : machine.modules.importNamed(first, 0, frame.module);
    writeName(machine, first, bound, frame);
  }
}

function runImportFrom(machine: Machine, node: Node<'ImportFrom'>, frame: Frame): undefined {
  const { module, level, names } = node;
  const source = machine.modules.importNamed(module ?? '', level ?? 0, frame.module);
  for (const { name, asname } of names) {
    if (name === '*') importAll(machine, source, frame);
    else writeName(machine, asname ?? name, member(machine, source, name), frame);
  }
}

function member(machine: Machine, source: Value, name: string): Value {
  if (!(source instanceof Module)) return machine.attribute(source, name);
  const found = findAttribute(machine, source, name);
  if (found !== undefined) return found;
  if (source.open !== undefined) return new Unknown(source.open, name);
  return raise('ImportError', `cannot import name '${name}' from '${source.name}'`);
}

/** `from x import *`: if from outside, it may have brought names that are used later. */
function importAll(machine: Machine, source: Value, frame: Frame): void {
  const target = frame.scope ?? frame.module;
  if (!(source instanceof Module)) {
    machine.heap.touch(target);
    target.open ??= `it imports everything from ${source instanceof Unknown ? source.path : 'outside'}`;
    return;
  }
  const listed = source.own('__all__');
  const names =
    listed instanceof List || listed instanceof Tuple
      ? listed.items
      : [...source.entries.keys()].filter((name) => !name.startsWith('_'));
  machine.budget.spend(names.length);
  for (const name of names) {
    if (typeof name === 'string') writeName(machine, name, member(machine, source, name), frame);
  }
  if (source.open !== undefined) {
    machine.heap.touch(target);
    target.open ??= source.open;
  }
}
