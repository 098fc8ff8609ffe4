import type { Followed, Way } from '../values/heap.ts';
import { enter, join, joinedStates } from '../values/join.ts';
import type { Completion, Machine } from '../values/machine.ts';
import { follow } from './forks.ts';

/** Follows the branches of a statement whose condition is unknown; where they end in different ways, it is split. */
export function branch(machine: Machine, ways: readonly (() => Completion)[]): Completion {
  return end(machine, follow(machine, ways));
}

/** Runs what comes next: of a split, in the way that goes on, next to those that leave. */
export function proceed(machine: Machine, completion: Completion, next: () => Completion): Completion {
  if (completion === undefined) return next();
  if (completion.kind !== 'split') return completion;
  const { ways, before } = completion;
  const going = ways.find(({ result }) => result === undefined);
  if (!going) return completion;
  const go = () => {
    enter(machine, going.after);
    return next();
  };
  return end(machine, follow(machine, [go], { ways: ways.filter((way) => way !== going), before }));
}

/** Goes on with all ways at once, and says how they ended. */
export function settle(machine: Machine, completion: Completion): Completion[] {
  if (completion?.kind !== 'split') return [completion];
  enter(machine, joinedStates(machine, completion));
  return completion.ways.map(({ result }) => result);
}

/** One way for each kind of end; if there is one only, it is in effect. */
function end(machine: Machine, { ways, before }: Followed<Completion>): Completion {
  const flat = ways.flatMap(({ result, after }): Way<Completion>[] =>
    result?.kind === 'split'
      ? result.ways.map((way) => ({ result: way.result, after: new Map([...after, ...way.after]) }))
      : [{ result, after }],
  );
  const merged = [undefined, 'return', 'break', 'continue'].flatMap((kind): Way<Completion>[] => {
    const same = flat.filter(({ result }) => result?.kind === kind);
    if (same.length < 2) return same;
    const result = same
      .map((way) => way.result)
      .reduce((left, right) =>
        left?.kind === 'return' && right?.kind === 'return'
          ? { kind: 'return', value: join(machine, left.value, right.value) }
          : left,
      );
    return [{ result, after: joinedStates(machine, { ways: same, before }) }];
  });
  const [only] = merged;
  if (merged.length > 1 || !only) return { kind: 'split', ways: merged, before };
  enter(machine, only.after);
  return only.result;
}
