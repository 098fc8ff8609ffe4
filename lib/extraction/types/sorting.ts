import { plainTruth } from '../values/access.ts';
import { compare } from '../values/equality.ts';
import type { Machine } from '../values/machine.ts';
import type { Keywords, Value } from '../values/values.ts';

/**
 * Sorts as `sorted` does. What does not compare keeps its order. The comparison counts steps, so a merge sort of
 * the runtime's is bounded as everything is.
 */
export function sorted(machine: Machine, items: Iterable<Value>, keywords: Keywords): Value[] {
  const key = keywords.get('key') ?? null;
  const keyed = [...items].map((item) => ({ item, key: key === null ? item : machine.call(key, [item]) }));
  const direction = plainTruth(keywords.get('reverse') ?? false) ? -1 : 1;
  machine.budget.spend(keyed.length);
  return keyed
    .sort((left, right) => direction * (compare(machine, left.key, right.key) ?? 0))
    .map(({ item }) => item);
}
