import { plainTruth } from '../values/access.ts';
import type { Machine } from '../values/machine.ts';
import { Instance } from '../values/objects.ts';
import type { Value } from '../values/values.ts';

/** Whether a value counts as true; undefined if unknown. */
export function truth(machine: Machine, value: Value): boolean | undefined {
  if (!(value instanceof Instance)) return plainTruth(machine, value);
  const own = value.cls.find('__bool__') ?? value.cls.find('__len__');
  if (own !== undefined && value.payload === undefined)
    return plainTruth(machine, machine.call(own, [value]));
  if (value.payload !== undefined) return plainTruth(machine, value.payload);
  return value.cls.outside === undefined ? true : undefined;
}
