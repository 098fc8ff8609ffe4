import { plain } from '../values/access.ts';
import { Class, Dict, Instance, List, PythonSet } from '../values/objects.ts';
import { isCounted, Iterator, Range, Several, Tuple, Unknown } from '../values/values.ts';
import type { Keywords, Value } from '../values/values.ts';
import { compare } from '../values/equality.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { sizeOf } from '../values/text.ts';
import { findAttribute } from '../language/attributes.ts';
import { truth } from '../language/truth.ts';

export function length(machine: Machine, value: Value): Value {
  const own =
    value instanceof Instance && value.payload === undefined ? value.cls.find('__len__') : undefined;
  if (own !== undefined) return machine.call(own, [value]);
  const holder = plain(value);
  if (typeof holder === 'string') {
    machine.budget.text(holder.length);
    return BigInt(sizeOf(holder));
  }
  if ((holder instanceof List || holder instanceof Tuple) && isCounted(machine, holder.items))
    return BigInt(holder.items.length);
  if (holder instanceof Range) return holder.length;
  if (holder instanceof Dict || holder instanceof PythonSet) {
    machine.budget.spend(holder.entries.size >> 2);
    const isSure =
      holder.open === undefined && ![...holder.entries.values()].some(({ conditional }) => conditional);
    return isSure ? BigInt(holder.entries.size) : new Unknown('how many there are');
  }
  return new Unknown('how many there are');
}

export function lazily(items: () => Generator<Value>): Iterator {
  return new Iterator(items());
}

export function zip(machine: Machine, sources: readonly Value[]): Iterator {
  return lazily(function* () {
    const iterators = sources.map((source) => machine.iterate(source));
    while (iterators.length > 0) {
      const row = iterators.map((iterator) => iterator.next());
      if (row.some(({ done }) => done)) return;
      const values = row.map(({ value }) => value);
      const [first, ...others] = values;
      if (isCounted(machine, values)) yield new Tuple(values);
      else if (first instanceof Several && others.length === 0)
        yield new Several(
          first.why,
          first.items.map((item) => new Tuple([item])),
        );
      // Which item meets which is unknown from here on.
      else {
        yield* machine.iterate(new Unknown('an unknown position'));
        return;
      }
    }
  });
}

export function next(machine: Machine, source: Value, fallback: Value | undefined): Value {
  if (source instanceof Unknown) return source;
  const own = source instanceof Instance ? source.cls.find('__next__') : undefined;
  if (own !== undefined) return machine.call(own, [source]);
  machine.budget.spend();
  const step = source instanceof Iterator ? source.items.next() : machine.iterate(source).next();
  if (!step.done) return step.value;
  return fallback === undefined ? raise('StopIteration', '') : fallback;
}

export function extreme(machine: Machine, args: Value[], keywords: Keywords, sign: number): Value {
  const [first = null] = args;
  if (args.some((arg) => arg instanceof Unknown)) return new Unknown('an unknown comparison');
  const items = args.length === 1 ? [...machine.iterate(first)] : args;
  const key = keywords.get('key') ?? null;
  let best: { item: Value; key: Value } | undefined;
  for (const item of items) {
    const candidate = { item, key: key === null ? item : machine.call(key, [item]) };
    const order = best ? compare(machine, candidate.key, best.key) : sign;
    if (order === undefined) return new Unknown('an unknown comparison');
    if (order * sign > 0) best = candidate;
  }
  if (best) return best.item;
  if (first instanceof List && first.symbolic) return new Unknown('a list that the host fills');
  const fallback = keywords.get('default');
  return fallback === undefined ? raise('ValueError', 'it is not a valid value') : fallback;
}

export function quantified(machine: Machine, source: Value, wanted: boolean): Value {
  let isKnown = true;
  for (const item of machine.iterate(source)) {
    const isTrue = truth(machine, item);
    if (isTrue === wanted) return wanted;
    if (isTrue === undefined) isKnown = false;
  }
  return isKnown ? !wanted : new Unknown('an unknown condition');
}

export function names(machine: Machine, value: Value): Value {
  if (value instanceof Unknown) return value;
  const found = new Set<string>();
  const order = value instanceof Instance ? value.cls.mro : value instanceof Class ? value.mro : [];
  const holders = value instanceof Class ? order : [value, ...order];
  for (const holder of holders) {
    const dict = findAttribute(machine, holder, '__dict__');
    if (dict instanceof Dict) for (const { key } of dict.entries.values()) found.add(String(key));
    machine.budget.spend(found.size);
  }
  return new List([...found].sort());
}
