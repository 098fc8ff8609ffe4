import { type Entry, type Snapshot, Store } from './heap.ts';
import type { Value } from './values.ts';

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
