import type { StmtNode } from 'py-ast';
import { put } from '../values/access.ts';
import { exceptionOf, exceptionType, raise, Raised } from '../values/builtin-types.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Class, Func } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import { Dict, type Value } from '../values/values.ts';
import { assign, remove } from './assignments.ts';
import { defineClass } from './classes.ts';
import { branch, proceed } from './branches.ts';
import { defineFunction, type Definition } from './functions.ts';
import { runImport, runImportFrom } from './imports.ts';
import { runFor, runWhile } from './loops.ts';
import { runMatch } from './patterns.ts';
import { readName, writeName } from './names.ts';
import { inPlace } from './operators.ts';
import { item, setItem } from './subscripts.ts';
import { runTry, runWith } from './try-statements.ts';
import { truth } from './truth.ts';

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
  While: runWhile,
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
  throw new Raised(value instanceof Class ? raisedBy(machine, value) : value);
}

function raisedBy(machine: Machine, cls: Class): Value {
  return cls.builtin ? exceptionOf(cls, []) : machine.call(cls, []);
}
