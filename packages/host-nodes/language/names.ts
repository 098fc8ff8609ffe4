import { orderOf, removeName, setName } from '../values/access.ts';
import { raise } from '../values/builtin-types.ts';
import { type Frame, List, type Machine, type Namespace, type Scope, type Value } from '../values/values.ts';
import { builtins } from '../library/builtins.ts';
import type { ExprNode } from 'py-ast';
import { Several, Unknown } from '../values/plain.ts';
import { deleteAttribute } from './attributes.ts';
import { deleteItem, setItem } from './subscripts.ts';

export function readName(machine: Machine, name: string, frame: Frame): Value {
  const local = findVariable(name, frame);
  if (local !== undefined) return local;
  const global = frame.module.own(name);
  if (global !== undefined) return global;
  const builtin = builtins.get(name);
  if (builtin !== undefined) return builtin;
  if (name === '__class__' && frame.home.cls) return frame.home.cls;
  if (frame.module.open !== undefined) return machine.outside('');
  return raise('NameError', `name '${name}' is not defined`);
}

function findVariable(name: string, { scope }: Frame): Value | undefined {
  if (scope?.elsewhere.get(name) === 'global') return undefined;
  for (let place = scope; place; place = place.outer) {
    const value = place === scope || !place.isClassBody ? place.own(name) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

export function writeName(machine: Machine, name: string, value: Value, frame: Frame): void {
  setName(machine.heap, holderOf(name, frame), name, value);
}

function holderOf(name: string, { scope, module }: Frame): Namespace {
  const elsewhere = scope?.elsewhere.get(name);
  if (!scope || elsewhere === 'global') return module;
  return elsewhere === 'nonlocal' ? (enclosing(name, scope) ?? scope) : scope;
}

function enclosing(name: string, scope: Scope): Scope | undefined {
  for (let place = scope.outer; place; place = place.outer) {
    if (!place.isClassBody && place.own(name) !== undefined) return place;
  }
  return undefined;
}

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
  if (target.nodeType === 'Name') {
    if (!removeName(machine.heap, holderOf(target.id, frame), target.id))
      raise('NameError', `name '${target.id}' is not defined`);
  } else if (target.nodeType === 'Attribute') {
    deleteAttribute(machine, machine.evaluate(target.value, frame), target.attr);
  } else if (target.nodeType === 'Subscript') {
    deleteItem(machine, machine.evaluate(target.value, frame), machine.evaluate(target.slice, frame));
  } else if (target.nodeType === 'Tuple' || target.nodeType === 'List') {
    for (const element of target.elts) remove(machine, element, frame);
  }
}
