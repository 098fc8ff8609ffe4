import type { Machine } from '../values/machine.ts';
import { BoundMethod, type Class, Descriptor, Func, Instance, Native } from '../values/objects.ts';
import type { Value } from '../values/values.ts';

/** The result of reading a class's attribute: from an instance, or from the class if `self` is undefined. */
export function bind(machine: Machine, found: Value, self: Value | undefined, cls: Class): Value {
  if (found instanceof Func) return self === undefined ? found : new BoundMethod(self, found);
  if (found instanceof Native)
    return found.binds && self !== undefined ? new BoundMethod(self, found) : found;
  if (found instanceof Descriptor) {
    if (found.kind === 'classmethod') return new BoundMethod(cls, found.func);
    if (found.kind === 'staticmethod') return found.func;
    return self === undefined ? found : machine.call(found.func, [self]);
  }
  const getter = found instanceof Instance ? found.cls.find('__get__') : undefined;
  return getter === undefined ? found : machine.call(getter, [found, self ?? null, cls]);
}
