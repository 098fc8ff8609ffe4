import { removeName, setName } from '../values/access.ts';
import { raise } from '../values/builtin-types.ts';
import type { Frame, Machine, Scope } from '../values/machine.ts';
import type { Namespace, Value } from '../values/values.ts';
import { builtins } from '../library/builtins.ts';

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

export function deleteName(machine: Machine, name: string, frame: Frame): void {
  if (!removeName(machine.heap, holderOf(name, frame), name))
    raise('NameError', `name '${name}' is not defined`);
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
