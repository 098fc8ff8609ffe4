import type { ExprNode } from 'py-ast';
import { orderOf } from '../values/access.ts';
import { raise } from '../values/builtin-types.ts';
import type { Frame, Machine } from '../values/machine.ts';
import { Several, Unknown } from '../values/plain.ts';
import { List, type Value } from '../values/values.ts';
import { deleteAttribute } from './attributes.ts';
import { deleteName, writeName } from './names.ts';
import { deleteItem, setItem } from './subscripts.ts';

export function assign(machine: Machine, target: ExprNode, value: Value, frame: Frame): void {
  if (target.nodeType === 'Name') writeName(machine, target.id, value, frame);
  else if (target.nodeType === 'Attribute') {
    machine.setAttribute(machine.evaluate(target.value, frame), target.attr, value);
  } else if (target.nodeType === 'Subscript') {
    setItem(machine, machine.evaluate(target.value, frame), machine.evaluate(target.slice, frame), value);
  } else if (target.nodeType === 'Tuple' || target.nodeType === 'List') {
    unpack(machine, target.elts, value, frame);
  } else if (target.nodeType === 'Starred') assign(machine, target.value, value, frame);
}

function unpack(machine: Machine, targets: readonly ExprNode[], value: Value, frame: Frame): void {
  const items = [...machine.iterate(value)];
  const why = items.find((item) => item instanceof Several)?.why ?? orderOf(value);
  if (why !== undefined) {
    for (const target of targets) assign(machine, target, new Unknown(why), frame);
    return;
  }
  const star = targets.findIndex(({ nodeType }) => nodeType === 'Starred');
  const surplus = items.length - targets.length;
  if (star < 0 ? surplus !== 0 : surplus < -1) raise('ValueError', 'wrong number of values to unpack');
  for (const [index, target] of targets.entries()) {
    if (index === star) assign(machine, target, new List(items.slice(star, star + surplus + 1)), frame);
    else assign(machine, target, items[star >= 0 && index > star ? index + surplus : index] ?? null, frame);
  }
}

export function remove(machine: Machine, target: ExprNode, frame: Frame): void {
  if (target.nodeType === 'Name') deleteName(machine, target.id, frame);
  else if (target.nodeType === 'Attribute') {
    deleteAttribute(machine, machine.evaluate(target.value, frame), target.attr);
  } else if (target.nodeType === 'Subscript') {
    deleteItem(machine, machine.evaluate(target.value, frame), machine.evaluate(target.slice, frame));
  } else if (target.nodeType === 'Tuple' || target.nodeType === 'List') {
    for (const element of target.elts) remove(machine, element, frame);
  }
}
