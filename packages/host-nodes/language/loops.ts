import type { ExprNode, StmtNode } from 'py-ast';
import { partsOf } from '../source.ts';
import { join } from '../values/join.ts';
import { orderOf } from '../values/access.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Several, Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { assign } from './assignments.ts';
import { branch, settle } from './branches.ts';
import { truth } from './truth.ts';

type For = Extract<StmtNode, { nodeType: 'For' }>;
type While = Extract<StmtNode, { nodeType: 'While' }>;
type Turns = Generator<(returned: Value[]) => Completion>;

export function runFor(machine: Machine, node: For, frame: Frame): Completion {
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
function endsEarly(machine: Machine, { body }: For): boolean {
  const parts = partsOf(body);
  machine.budget.read(parts.length);
  return parts.some(({ nodeType }) => nodeType === 'Break' || nodeType === 'Return');
}

/** What the last of several items leaves behind depends on their order, but for what each leaves, and counts. */
function forget(machine: Machine, { target, body }: For, why: string, frame: Frame): void {
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
function* forTurns(machine: Machine, node: For, items: Iterable<Value>, frame: Frame): Turns {
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

export function runWhile(machine: Machine, node: While, frame: Frame): Completion {
  return run(machine, whileTurns(machine, node, frame), () => machine.execute(node.orelse, frame));
}

/** Under an unknown condition, the body runs as for unknown items. */
function* whileTurns(machine: Machine, { test, body }: While, frame: Frame): Turns {
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
