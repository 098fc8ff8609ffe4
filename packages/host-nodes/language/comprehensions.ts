import type { Comprehension, ExprNode } from 'py-ast';
import { orderOf } from '../values/access.ts';
import { type Frame, type Machine, Scope } from '../values/machine.ts';
import { maybe, Several } from '../values/plain.ts';
import { List, type Value } from '../values/values.ts';
import { assign } from './assignments.ts';
import { truth } from './truth.ts';

/** The items of a comprehension. Those that may be absent are marked. */
export function comprehend(
  machine: Machine,
  generators: readonly Comprehension[],
  frame: Frame,
  element: (frame: Frame) => Value,
): List {
  const list = new List();
  const [first] = generators;
  if (!first) return list;
  // The first iterable belongs to the surrounding scope, which may be a class body.
  const source = machine.evaluate(first.iter, frame);
  const inner = frame.inside(new Scope(frame.scope));
  for (const item of walk(machine, generators, 0, source, inner, element, list)) list.items.push(item);
  return list;
}

function* walk(
  machine: Machine,
  generators: readonly Comprehension[],
  depth: number,
  source: Value,
  frame: Frame,
  element: (frame: Frame) => Value,
  list: List,
): Generator<Value> {
  const generator = generators[depth];
  if (!generator) return;
  list.order ??= orderOf(source);
  for (const item of machine.iterate(source)) {
    for (const candidate of item instanceof Several ? item.items : [item]) {
      assign(machine, generator.target, candidate, frame);
      const isIn = passes(machine, generator.ifs, frame);
      if (isIn === false) continue;
      const next = generators[depth + 1];
      const found = next
        ? walk(machine, generators, depth + 1, machine.evaluate(next.iter, frame), frame, element, list)
        : [element(frame)];
      for (const value of found) yield isIn && candidate === item ? value : maybe(value);
    }
  }
}

function passes(machine: Machine, tests: readonly ExprNode[], frame: Frame): boolean | undefined {
  let result: boolean | undefined = true;
  for (const test of tests) {
    const isTrue = truth(machine, machine.evaluate(test, frame));
    if (isTrue === false) return false;
    result &&= isTrue;
  }
  return result;
}
