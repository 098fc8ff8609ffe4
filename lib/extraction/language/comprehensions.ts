import type { Comprehension } from 'py-ast';
import { type Frame, type Machine, Scope } from '../values/machine.ts';
import { Dict } from '../values/collections.ts';
import { Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { assign } from './assignments.ts';
import { truth } from './truth.ts';

/** What a comprehension gives, one by one. Over something unknown it gives one value, with what is unknown in it. */
export function* comprehend(
  machine: Machine,
  generators: readonly Comprehension[],
  frame: Frame,
  element: (frame: Frame) => Value,
): Generator<Value> {
  const [first] = generators;
  if (!first) return;
  // The first iterable belongs to the scope around it, which may be a class body.
  const source = machine.evaluate(first.iter, frame);
  yield* walk(machine, generators, 0, source, frame.inside(new Scope(frame.scope)), element);
}

function* walk(
  machine: Machine,
  generators: readonly Comprehension[],
  depth: number,
  source: Value,
  frame: Frame,
  element: (frame: Frame) => Value,
): Generator<Value> {
  const generator = generators[depth];
  if (!generator) return;
  if (source instanceof Unknown) {
    yield source;
    return;
  }
  for (const item of machine.iterate(source)) {
    assign(machine, generator.target, item, frame);
    const isOut = generator.ifs.some((test) => truth(machine, machine.evaluate(test, frame)) === false);
    // What may be left out is kept: a node's name may be in it.
    if (isOut) continue;
    const next = generators[depth + 1];
    if (next) yield* walk(machine, generators, depth + 1, machine.evaluate(next.iter, frame), frame, element);
    else yield element(frame);
  }
  if (source instanceof Dict && source.open !== undefined) yield new Unknown(source.open);
}
