import type { StmtNode } from 'py-ast';
import { partsOf } from '../source.ts';
import { equal } from '../values/equality.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { branch } from './branches.ts';
import { writeName } from './names.ts';
import { truth } from './truth.ts';

type Match = Extract<StmtNode, { nodeType: 'Match' }>;
type Pattern = Match['cases'][number]['pattern'];

/** Tries the cases in turn; a case that may or may not match becomes a branch. */
export function runMatch(machine: Machine, { subject, cases }: Match, frame: Frame): Completion {
  const value = machine.evaluate(subject, frame);
  const possible: (() => Completion)[] = [];
  for (const { pattern, guard, body } of cases) {
    const fits = matches(machine, pattern, value, frame);
    const holds =
      fits === false || !guard ? fits : both(fits, truth(machine, machine.evaluate(guard, frame)));
    if (holds === false) continue;
    possible.push(() => {
      // Another case may have captured the same name.
      matches(machine, pattern, value, frame);
      return machine.execute(body, frame);
    });
    if (holds === true) return branch(machine, possible);
  }
  return possible.length === 0 ? undefined : branch(machine, [...possible, () => undefined]);
}

function both(left: boolean | undefined, right: boolean | undefined): boolean | undefined {
  if (left === false || right === false) return false;
  return left === true && right === true ? true : undefined;
}

function matches(machine: Machine, pattern: Pattern, value: Value, frame: Frame): boolean | undefined {
  machine.budget.spend();
  switch (pattern.nodeType) {
    case 'MatchValue':
      return equal(machine, machine.evaluate(pattern.value, frame), value);
    case 'MatchSingleton':
      return value instanceof Unknown ? undefined : value === (pattern.value as Value);
    case 'MatchAs': {
      const fits = pattern.pattern ? matches(machine, pattern.pattern, value, frame) : true;
      if (pattern.name && fits !== false) writeName(machine, pattern.name, value, frame);
      return fits;
    }
    case 'MatchOr': {
      const answers = pattern.patterns.map((part) => matches(machine, part, value, frame));
      if (answers.includes(true)) return true;
      return answers.includes(undefined) ? undefined : false;
    }
    default: {
      // Parts are not followed: whether they fit is unknown, and so is what they name.
      const parts = partsOf([pattern]);
      machine.budget.spend(parts.length);
      for (const name of parts.flatMap((part) => [part.name, part.rest]))
        if (typeof name === 'string')
          writeName(machine, name, new Unknown('a part of what is matched'), frame);
      return undefined;
    }
  }
}
