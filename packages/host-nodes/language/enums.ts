import { dictOf } from '../values/access.ts';
import { builtinType, intType, strType } from '../values/builtin-types.ts';
import { equal } from '../values/equality.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { Class, Dict, Func, Instance } from '../values/objects.ts';
import { Descriptor, Native, Unknown, type Value } from '../values/values.ts';

/** What `auto()` leaves until the class is finished. */
export const autoType = builtinType('auto');

/** Makes members of what an enum's body assigned. */
export function finishEnum(machine: Machine, cls: Class): void {
  const members: [string, Value][] = [];
  let last = 0n;
  for (const { key, value } of [...cls.entries.values()]) {
    const name = String(key);
    if (name.startsWith('_') || !isMember(value)) continue;
    const isAuto = value instanceof Instance && value.cls === autoType;
    const content = isAuto ? (cls.inherits(strType) ? name.toLowerCase() : last + 1n) : value;
    if (typeof content === 'bigint') last = content;
    const member = new Instance(cls, cls.inherits(strType) || cls.inherits(intType) ? content : undefined);
    member.define('name', name);
    member.define('_name_', name);
    member.define('value', content);
    member.define('_value_', content);
    cls.define(name, member);
    members.push([name, member]);
  }
  if (members.length > 0) cls.define('_member_map_', dictOf(machine, members));
}

function isMember(value: Value): boolean {
  return ![Func, Descriptor, Native, Class].some((kind) => value instanceof kind);
}

/** `Color('red')`: the member of that value. */
export function memberOf(machine: Machine, cls: Class, wanted: Value): Value {
  const members = cls.find('_member_map_');
  const values = members instanceof Dict ? [...members.entries.values()].map(({ value }) => value) : [];
  const isIt = (value: Value) =>
    value === wanted || (value instanceof Instance && equal(machine, value.own('value') ?? null, wanted));
  const found = wanted instanceof Unknown ? wanted : values.find(isIt);
  return found ?? raise('ValueError', 'it is not a valid value');
}
