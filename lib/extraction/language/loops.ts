import type { StmtNode } from 'py-ast';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { assign } from './assignments.ts';
import { branch } from './branches.ts';
import { truth } from './truth.ts';

type For = Extract<StmtNode, { nodeType: 'For' }>;
type While = Extract<StmtNode, { nodeType: 'While' }>;

/** A loop over something unknown runs once, with an unknown item, or not at all. */
export function runFor(machine: Machine, node: For, frame: Frame): Completion {
  const source = machine.evaluate(node.iter, frame);
  if (source instanceof Unknown) {
    return once(machine, frame, () => turn(machine, node, new Unknown(source.why), frame));
  }
  for (const item of machine.iterate(source)) {
    const completion = turn(machine, node, item, frame);
    if (completion?.kind === 'break') return undefined;
    if (completion?.kind === 'return') return completion;
  }
  return machine.execute(node.orelse, frame);
}

function turn(machine: Machine, node: For, item: Value, frame: Frame): Completion {
  assign(machine, node.target, item, frame);
  return machine.execute(node.body, frame);
}

export function runWhile(machine: Machine, node: While, frame: Frame): Completion {
  for (;;) {
    machine.budget.spend();
    const isTrue = truth(machine, machine.evaluate(node.test, frame));
    if (isTrue === false) return machine.execute(node.orelse, frame);
    if (isTrue === undefined) return once(machine, frame, () => machine.execute(node.body, frame));
    const completion = machine.execute(node.body, frame);
    if (completion?.kind === 'break') return undefined;
    if (completion?.kind === 'return') return completion;
  }
}

function once(machine: Machine, frame: Frame, body: () => Completion): Completion {
  return branch(machine, frame, [
    () => {
      const completion = body();
      return completion?.kind === 'return' ? completion : undefined;
    },
    () => undefined,
  ]);
}
