import { orderOf, plain, plainTruth } from '../values/access.ts';
import { compare } from '../values/equality.ts';
import type { Machine } from '../values/machine.ts';
import { isSame, Several } from '../values/plain.ts';
import { type Keywords, List, type Value } from '../values/values.ts';

/**
 * Sorts as `sorted` does; values that can't be compared leave the order open. The comparison counts steps, so
 * the runtime's merge sort has the same limits as everything else.
 */
export function sorted(machine: Machine, source: Value, keywords: Keywords): List {
  const key = keywords.get('key') ?? null;
  const keyed = [...machine.iterate(source)].map((item) => ({
    item,
    key: key === null ? item : machine.call(key, [item]),
  }));
  const isReverse = plainTruth(machine, plain(keywords.get('reverse') ?? false));
  machine.budget.spend(keyed.length);
  let isKnown = isReverse !== undefined || keyed.length < 2;
  // Equal keys keep the order that the items had.
  let isTied = false;
  const order = keyed.sort((left, right) => {
    const answer = compare(machine, left.key, right.key);
    isKnown &&= answer !== undefined;
    isTied ||= answer === 0 && !isSame(machine, left.item, right.item);
    return (isReverse ? -1 : 1) * (answer ?? 0);
  });
  const all = order.map(({ item }) => item);
  const known = isKnown ? all : [new Several('an unknown order', []), ...all];
  return new List(known, isTied ? orderOf(source) : undefined);
}
