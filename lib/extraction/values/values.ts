import type { Arguments, ExprNode, StmtNode } from 'py-ast';
import { type Entry, type Snapshot, Store } from './heap.ts';
import type { Frame, Machine, Scope } from './machine.ts';

/*
 * Python's values. None, booleans, integers, floats and texts are JavaScript's null, boolean, bigint, number and
 * string; everything else is one of the classes below. Names that a pack chooses are keys of Maps only, so that
 * `__proto__` is a name like any other.
 */

export type Value = null | boolean | bigint | number | string | PythonObject;

export type PythonObject =
  | Bytes
  | List
  | Tuple
  | Dict
  | PythonSet
  | Range
  | Slice
  | Iterator
  | Func
  | BoundMethod
  | Native
  | Class
  | Instance
  | Module
  | Descriptor
  | Super
  | Symbolic
  | Unknown;

export type Keywords = ReadonlyMap<string, Value>;

/** A value that only running the pack, or a package outside of it, could show. It absorbs what is done with it. */
export class Unknown {
  readonly why: string;
  /** The dotted name it came from, such as `torch.cuda.is_available`. */
  readonly path: string;

  constructor(why: string, path = '') {
    this.why = why;
    this.path = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  }
}

export class Bytes {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export class Tuple {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

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
  construct: Construct | undefined;

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
  isGenerator: boolean;
}

export class Func extends Namespace {
  readonly code: FunctionCode;
  readonly frame: Frame;
  readonly scope: Scope | undefined;
  readonly defaults: readonly Value[];
  readonly keywordDefaults: readonly (Value | undefined)[];

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

export type NativeCall = (machine: Machine, args: Value[], keywords: Keywords) => Value;

/** A function of Python's or of a model. */
export class Native {
  readonly name: string;
  readonly run: NativeCall;
  /** Whether it becomes a method when it is read from an instance. */
  readonly binds: boolean;

  constructor(name: string, run: NativeCall, binds = false) {
    this.name = name;
    this.run = run;
    this.binds = binds;
  }
}

export class BoundMethod {
  readonly self: Value;
  readonly func: Value;

  constructor(self: Value, func: Value) {
    this.self = self;
    this.func = func;
  }
}

export class Descriptor {
  readonly kind: 'property' | 'classmethod' | 'staticmethod';
  readonly func: Value;
  readonly setter: Value;

  constructor(kind: 'property' | 'classmethod' | 'staticmethod', func: Value, setter: Value = null) {
    this.kind = kind;
    this.func = func;
    this.setter = setter;
  }
}

export class Super {
  readonly after: Class;
  readonly self: Value;

  constructor(after: Class, self: Value) {
    this.after = after;
    this.self = self;
  }
}

export class Range {
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;

  constructor(start: bigint, stop: bigint, step: bigint) {
    this.start = start;
    this.stop = stop;
    this.step = step;
  }

  get length(): bigint {
    const span = this.step > 0n ? this.stop - this.start : this.start - this.stop;
    const stride = this.step > 0n ? this.step : -this.step;
    return span > 0n ? (span + stride - 1n) / stride : 0n;
  }
}

export class Slice {
  readonly start: Value;
  readonly stop: Value;
  readonly step: Value;

  constructor(start: Value, stop: Value, step: Value) {
    this.start = start;
    this.stop = stop;
    this.step = step;
  }
}

/** What `iter`, generators and the lazy built-ins give: items that are taken once. */
export class Iterator {
  readonly items: globalThis.Iterator<Value>;

  constructor(items: globalThis.Iterator<Value>) {
    this.items = items;
  }
}

/** `...` and `NotImplemented`. */
export class Symbolic {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export const ellipsis = new Symbolic('Ellipsis');
export const notImplemented = new Symbolic('NotImplemented');
