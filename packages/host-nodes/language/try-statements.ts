import type { ExceptHandler, StmtNode } from 'py-ast';
import { isSubclass, removeName } from '../values/access.ts';
import { Raised } from '../values/exceptions.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Instance } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import { assign } from './assignments.ts';
import { findAttribute } from './attributes.ts';
import { proceed } from './branches.ts';
import { writeName } from './names.ts';

type Try = Extract<StmtNode, { nodeType: 'Try' }>;
type With = Extract<StmtNode, { nodeType: 'With' }>;

/** What is unknown is taken to succeed: a handler runs only for what surely raises. */
export function runTry(machine: Machine, node: Try, frame: Frame): Completion {
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

function tryBody(machine: Machine, node: Try, frame: Frame): Completion {
  let completion: Completion;
  try {
    completion = machine.execute(node.body, frame);
  } catch (error) {
    if (!(error instanceof Raised)) throw error;
    const handler = node.handlers.find((candidate) => takes(machine, candidate, error, frame));
    if (!handler) throw error;
    return handle(machine, handler, error, frame);
  }
  return proceed(machine, completion, () => machine.execute(node.orelse, frame));
}

function takes(machine: Machine, { type }: ExceptHandler, { value }: Raised, frame: Frame): boolean {
  if (!type) return true;
  const wanted = machine.evaluate(type, frame);
  if (!(value instanceof Instance)) return true;
  return isSubclass(machine, value.cls, wanted) !== false;
}

function handle(
  machine: Machine,
  { name, body }: ExceptHandler,
  { value }: Raised,
  frame: Frame,
): Completion {
  if (name) writeName(machine, name, value, frame);
  frame.handled.push(value);
  try {
    return machine.execute(body, frame);
  } finally {
    frame.handled.pop();
    if (name) removeName(machine.heap, frame.scope ?? frame.module, name);
  }
}

export function runWith(machine: Machine, { items, body }: With, frame: Frame): Completion {
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
