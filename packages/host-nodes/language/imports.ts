import type { StmtNode } from 'py-ast';
import { raise } from '../values/builtin-types.ts';
import type { Frame, Machine } from '../values/machine.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { List, Module, type Value } from '../values/values.ts';
import { findAttribute } from './attributes.ts';
import { writeName } from './names.ts';

type Import = Extract<StmtNode, { nodeType: 'Import' }>;
type ImportFrom = Extract<StmtNode, { nodeType: 'ImportFrom' }>;

/** `import a.b.c as d`: with `as` the last module, without it the first. */
export function runImport(machine: Machine, { names }: Import, frame: Frame): undefined {
  for (const { name, asname } of names) {
    const module = machine.modules.importNamed(name, 0, frame.module);
    const first = asname || (name.split('.', 1)[0] ?? name);
    const isWhole = asname || first === name;
    const bound = isWhole ? module : machine.modules.importNamed(first, 0, frame.module);
    writeName(machine, first, bound, frame);
  }
}

export function runImportFrom(machine: Machine, node: ImportFrom, frame: Frame): undefined {
  const { module, level, names } = node;
  const source = machine.modules.importNamed(module ?? '', level ?? 0, frame.module);
  for (const { name, asname } of names) {
    if (name === '*') importAll(machine, source, frame);
    else writeName(machine, asname ?? name, member(machine, source, name), frame);
  }
}

function member(machine: Machine, source: Value, name: string): Value {
  if (!(source instanceof Module)) return machine.attribute(source, name);
  const found = findAttribute(machine, source, name);
  if (found !== undefined) return found;
  if (source.open !== undefined) return new Unknown(source.open, name);
  return raise('ImportError', `cannot import name '${name}' from '${source.name}'`);
}

/** `from x import *`: if from outside, it may have brought names that are used later. */
function importAll(machine: Machine, source: Value, frame: Frame): void {
  const target = frame.scope ?? frame.module;
  if (!(source instanceof Module)) {
    machine.heap.touch(target);
    target.open ??= `it imports everything from ${source instanceof Unknown ? source.path : 'outside'}`;
    return;
  }
  const listed = source.own('__all__');
  const names =
    listed instanceof List || listed instanceof Tuple
      ? listed.items
      : [...source.entries.keys()].filter((name) => !name.startsWith('_'));
  machine.budget.spend(names.length);
  for (const name of names) {
    if (typeof name === 'string') writeName(machine, name, member(machine, source, name), frame);
  }
  if (source.open !== undefined) {
    machine.heap.touch(target);
    target.open ??= source.open;
  }
}
