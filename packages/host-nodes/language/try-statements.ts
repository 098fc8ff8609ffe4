import type { ExceptHandler, StmtNode } from 'py-ast';
import { isSubclass, removeName } from '../values/access.ts';
import { Raised } from '../values/builtin-types.ts';
import type { Completion, Doubts, Frame, Machine } from '../values/machine.ts';
import { Class, Instance } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import { Dict } from '../values/values.ts';
import { assign } from './assignments.ts';
import { findAttribute } from './attributes.ts';
import { branch, proceed } from './branches.ts';
import { writeName } from './names.ts';

type Try = Extract<StmtNode, { nodeType: 'Try' }>;
type With = Extract<StmtNode, { nodeType: 'With' }>;

/** Unknown code is assumed to succeed: a handler runs only for code that certainly raises. */
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

function handlerOf(machine: Machine, { handlers }: Try, error: Raised, frame: Frame) {
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
