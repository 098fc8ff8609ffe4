import { put } from '../values/access.ts';
import type { Machine } from '../values/machine.ts';
import { Unknown } from '../values/plain.ts';
import { Dict, List, type Value } from '../values/values.ts';

/** A value of JSON or TOML, whose integers are bigints. */
export function fromData(machine: Machine, value: unknown): Value {
  machine.budget.spend();
  if (value === null || value instanceof Unknown) return value;
  if (Array.isArray(value)) return new List(value.map((item) => fromData(machine, item)));
  if (value instanceof Date) return new Unknown('a date');
  if (typeof value !== 'object') return value as Value;
  const dict = new Dict();
  for (const [key, item] of Object.entries(value)) put(machine, dict, key, fromData(machine, item));
  // JavaScript has these first.
  const isMoved = dict.entries.size > 1 && [...dict.entries.keys()].some((key) => /^\d{1,10}$/.test(key));
  if (isMoved) dict.order = 'some of its keys are numbers';
  return dict;
}
