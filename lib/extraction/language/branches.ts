import { join } from '../values/join.ts';
import type { Completion, Frame, Machine } from '../values/machine.ts';
import { fork } from './forks.ts';

/**
 * Follows the branches of a statement whose condition is unknown. If some of them leave, by return, break or
 * continue, the evaluation goes on with those that do not; what was returned is kept for the end of the function.
 */
export function branch(machine: Machine, frame: Frame, ways: readonly (() => Completion)[]): Completion {
  const completions = fork<Completion>(machine, ways, (results) => {
    const goesOn = results.includes(undefined);
    return (result) => !goesOn || result === undefined;
  });
  const goesOn = completions.includes(undefined);
  const returned = completions.filter((completion) => completion?.kind === 'return');
  const leaves = completions.find((completion) => completion !== undefined && completion.kind !== 'return');
  if (goesOn || leaves) {
    for (const { value } of returned) frame.returned.push(value);
    return goesOn ? undefined : leaves;
  }
  const value = returned
    .map((completion) => completion.value)
    .reduce((left, right) => join(machine, left, right));
  return { kind: 'return', value };
}
