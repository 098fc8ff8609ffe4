import type { StmtNode } from 'py-ast';
import { partsOf } from '../source.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Unknown } from '../values/plain.ts';
import { branch } from './branches.ts';
import { writeName } from './names.ts';

type Match = Extract<StmtNode, { nodeType: 'Match' }>;

/** Patterns are not followed: any case may apply, or none, and what a pattern names is unknown. */
export function runMatch(machine: Machine, { subject, cases }: Match, frame: Frame): Completion {
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
