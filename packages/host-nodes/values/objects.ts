import type { Arguments, ExprNode, StmtNode } from 'py-ast';
import { type Entry, type Snapshot, Store } from './heap.ts';
import type { Frame, Machine, Scope } from './machine.ts';
import { type Keywords, Unknown, type Value } from './values.ts';

export class List extends Store {
  items: Value[];
  /** Whether the host fills it at run time, such as a list of the models that are installed. */
  readonly symbolic: boolean;

  constructor(items: Value[] = [], symbolic = false) {
    super();
    this.items = items;
    this.symbolic = symbolic;
  }

  snapshot(): Snapshot {
    return { entries: new Map(), items: [...this.items], open: undefined, size: this.items.length };
  }

  restore({ items }: Snapshot): void {
    this.items = [...items];
  }
}

interface Cell {
  entries: Map<string, Entry>;
  open: string | undefined;
}

/** Entries by key: what dicts, sets and namespaces have in common. */
abstract class Entries extends Store {
  /** Shared by a namespace and the dicts that are views of it. */
  protected cell: Cell = { entries: new Map(), open: undefined };

  get entries(): Map<string, Entry> {
    return this.cell.entries;
  }

  set entries(entries: Map<string, Entry>) {
    this.cell.entries = entries;
  }

  /** Why there may be more entries than are known. */
  get open(): string | undefined {
    return this.cell.open;
  }

  set open(why: string | undefined) {
    this.cell.open = why;
  }

  snapshot(): Snapshot {
    return { entries: new Map(this.entries), items: [], open: this.open, size: this.entries.size };
  }

  restore({ entries, open }: Snapshot): void {
    this.entries = new Map(entries);
    this.open = open;
  }
}

export class Dict extends Entries {
  /** What `collections.defaultdict` makes of an absent key. */
  fallback: Value = null;

  /** A dict of its own, or a namespace's `__dict__`, which follows it. */
  constructor(view?: Namespace) {
    super();
    if (!view) return;
    this.cell = Namespace.cellOf(view);
    this.owner = view;
  }
}

/** A dict that may have any keys. */
export function openDict(why: string): Dict {
  const dict = new Dict();
  dict.open = why;
  return dict;
}

export class PythonSet extends Entries {
  readonly frozen: boolean;

  constructor(frozen = false) {
    super();
    this.frozen = frozen;
  }
}

/** The attributes of an object, or the variables of a scope, by name. */
export abstract class Namespace extends Entries {
  static cellOf(namespace: Namespace): Cell {
    return namespace.cell;
  }

  /** Reads a name of this namespace itself. */
  own(name: string): Value | undefined {
    return this.entries.get(name)?.value;
  }

  /** Writes a name without a journal: only for what was just made. */
  define(name: string, value: Value): void {
    this.entries.set(name, { key: name, value, conditional: false });
  }
}

export class Module extends Namespace {
  readonly name: string;
  /** Its file in the tree, or the folder of a package without a file. */
  readonly path: string;
  readonly isPackage: boolean;

  constructor(name: string, path: string, isPackage: boolean) {
    super();
    this.name = name;
    this.path = path;
    this.isPackage = isPackage;
  }
}

/** How a class that is not the pack's own makes an instance. */
export type Construct = (machine: Machine, cls: Class, args: Value[], keywords: Keywords) => Value;

export class Class extends Namespace {
  readonly name: string;
  readonly bases: readonly Value[];
  /** Method resolution order, itself first; what is outside of the pack is not in it. */
  mro: readonly Class[] = [this];
  metaclass: Value = null;
  /** Why an attribute that was not found may still be there. */
  outside: string | undefined;
  /** Python's own and the models': nothing changes them. */
  readonly builtin: boolean;
  /** The model of a class of the host, which has more members than the model: one that is not here is unknown. */
  hasMoreMembers = false;
  construct: Construct | undefined;
  /** The pack's classes that derive from it directly. */
  readonly derived = new List();

  constructor(name: string, bases: readonly Value[] = [], builtin = false) {
    super();
    this.name = name;
    this.bases = bases;
    this.builtin = builtin;
  }

  /** Finds a name along the resolution order. */
  find(name: string, after?: Class): Value | undefined {
    const start = after ? this.mro.indexOf(after) + 1 : 0;
    for (const cls of this.mro.slice(start)) {
      const value = cls.own(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  inherits(other: Class): boolean {
    return this.mro.includes(other);
  }

  /** The dotted names of the bases outside of the pack; empty for one that is unknown. */
  basesOutside(): string[] {
    const bases = this.mro.flatMap((cls) => [...cls.bases, cls.metaclass]);
    return bases.flatMap((base) => (base instanceof Unknown ? [base.path] : []));
  }
}

export class Instance extends Namespace {
  readonly cls: Class;
  /** The text, number, list, dict… that an instance of a class derived from such a type is. */
  payload: Value | undefined;

  constructor(cls: Class, payload?: Value) {
    super();
    this.cls = cls;
    this.payload = payload;
  }
}

export interface FunctionCode {
  name: string;
  args: Arguments;
  body: StmtNode[] | ExprNode;
  isAsync: boolean;
}

export class Func extends Namespace {
  readonly code: FunctionCode;
  readonly frame: Frame;
  readonly scope: Scope | undefined;
  readonly defaults: readonly Value[];
  readonly keywordDefaults: readonly (Value | undefined)[];
  /** Whether something outside decorates it, and may have given it other attributes. */
  isDressed = false;

  constructor(
    code: FunctionCode,
    frame: Frame,
    scope: Scope | undefined,
    defaults: readonly Value[],
    keywordDefaults: readonly (Value | undefined)[],
  ) {
    super();
    this.code = code;
    this.frame = frame;
    this.scope = scope;
    this.defaults = defaults;
    this.keywordDefaults = keywordDefaults;
  }
}
