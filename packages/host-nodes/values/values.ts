import type { ExprNode, StmtNode } from 'py-ast';
import type { Budget } from '../limits.ts';
import type { FileTree } from '../files.ts';
import type { Risks } from '../risks.ts';

/*
 * Python's values. None, booleans, integers, floats and strings are JavaScript's null, boolean, bigint,
 * number and string; everything else is an object of a class in this file, plain.ts or objects.ts. Names
 * chosen by a pack are keys of Maps only, so `__proto__` is a name like any other.
 */

/** The common base of Python's values, which only marks them. */
export abstract class PythonObject {
  declare protected readonly brand: 'a Python value';
}

export type Value = null | boolean | bigint | number | string | PythonObject;

export type Keywords = ReadonlyMap<string, Value>;

/*
 * An unknown condition sends the evaluation both ways. Each way starts from the same state, so everything
 * that can change is a Store, and a journal keeps each store's content before its first change on the way.
 */

let births = 0;

/** Something that can change. Its number gives its age and its identity. */
export abstract class Store extends PythonObject {
  readonly born: number;
  /** The store with the actual content, if this one is a view. */
  owner: Store | undefined;
  /** Why the order of its items isn't known, and with it which one is first. */
  order: string | undefined;

  constructor() {
    super();
    births += 1;
    this.born = births;
  }

  abstract snapshot(): Snapshot;
  abstract restore(snapshot: Snapshot): void;
}

/** Entries by key, of a namespace or a dict, or items by position. */
export interface Snapshot {
  entries: ReadonlyMap<string, Entry>;
  items: readonly Value[];
  /** Why there may be more entries than are known. */
  open: string | undefined;
  size: number;
}

export interface Entry {
  key: Value;
  value: Value;
  /** Whether it exists only under an unknown condition. */
  conditional: boolean;
}

interface Journal {
  start: number;
  before: Map<Store, Snapshot>;
}

/** The result of a way. */
export interface Way<Result> {
  result?: Result;
  error?: unknown;
  after: Map<Store, Snapshot>;
}

/** Ways from one state, and the earlier contents of the stores they changed. */
export interface Followed<Result> {
  ways: Way<Result>[];
  before: ReadonlyMap<Store, Snapshot>;
}

export class Heap {
  readonly #spend: (steps: number) => void;
  readonly #journals: Journal[] = [];
  readonly #loops: { start: number; why: string }[] = [];

  constructor(spend: (steps: number) => void) {
    this.#spend = spend;
  }

  /** Runs a part once for each item of an unknown order: what it adds to earlier stores has none either. */
  inAnyOrder<Result>(why: string, part: () => Result): Result {
    this.#loops.push({ start: births, why });
    try {
      return part();
    } finally {
      this.#loops.pop();
    }
  }

  /** Call before a store changes. */
  touch(changing: Store): void {
    const loop = this.#loops.at(-1);
    if (loop && changing.born <= loop.start) changing.order ??= loop.why;
    const journal = this.#journals.at(-1);
    const store = changing.owner ?? changing;
    if (!journal || store.born > journal.start || journal.before.has(store)) return;
    const snapshot = store.snapshot();
    this.#spend(1 + (snapshot.size >> 1));
    journal.before.set(store, snapshot);
  }

  /** Follows one way and then undoes its changes; an error that `isPart` accepts ends only the way. */
  explore<Result>(
    way: () => Result,
    isPart: (error: unknown) => boolean,
  ): { way: Way<Result>; before: Map<Store, Snapshot> } {
    const journal: Journal = { start: births, before: new Map() };
    this.#journals.push(journal);
    const followed: Way<Result> = { after: new Map() };
    try {
      followed.result = way();
    } catch (error) {
      if (!isPart(error)) throw error;
      followed.error = error;
    } finally {
      this.#journals.pop();
    }
    for (const [store, snapshot] of journal.before) {
      this.#spend(1 + (snapshot.size >> 3));
      followed.after.set(store, store.snapshot());
      store.restore(snapshot);
      this.#remember(store, snapshot);
    }
    return { way: followed, before: journal.before };
  }

  #remember(store: Store, snapshot: Snapshot): void {
    const outer = this.#journals.at(-1);
    if (outer && store.born <= outer.start && !outer.before.has(store)) outer.before.set(store, snapshot);
  }
}

export class List extends Store {
  items: Value[];

  constructor(items: Value[] = [], order?: string) {
    super();
    this.items = items;
    this.order = order;
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

/** Entries by key: the common part of dicts, sets and namespaces. */
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
  /** The factory of `collections.defaultdict` for an absent key. */
  fallback: Value = null;

  /** An independent dict, or a namespace's `__dict__`, which follows it. */
  constructor(view?: Namespace) {
    super();
    if (!view) return;
    this.cell = Namespace.cellOf(view);
    this.owner = view;
  }
}

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

  own(name: string): Value | undefined {
    return this.entries.get(name)?.value;
  }

  /** Writes a name without a journal: only for a new object. */
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

/** Variables, looked up from the inside out. Functions in a class body skip its scope. */
export class Scope extends Namespace {
  readonly outer: Scope | undefined;
  readonly isClassBody: boolean;
  /** Names that `global` and `nonlocal` redirect. */
  readonly elsewhere = new Map<string, 'global' | 'nonlocal'>();

  constructor(outer: Scope | undefined, isClassBody = false) {
    super();
    this.outer = outer;
    this.isClassBody = isClassBody;
  }
}

export class Frame {
  readonly module: Module;
  /** The lines of its file, for numbers whose spelling the tree doesn't keep. */
  readonly lines: readonly string[];
  /** Undefined at the top of a module, whose variables are the module's attributes. */
  readonly scope: Scope | undefined;
  /** The class whose body contains the code, for `super()`. */
  readonly home: { cls?: Value };
  /** A method's first argument, for `super()`. */
  self: Value | undefined;
  readonly yielded = new List();
  /** Exceptions that are being handled, for a bare `raise`. */
  readonly handled: Value[] = [];

  constructor(module: Module, lines: readonly string[], scope?: Scope, home: { cls?: Value } = {}) {
    this.module = module;
    this.lines = lines;
    this.scope = scope;
    this.home = home;
  }

  /** The same place with variables of its own, for example for a comprehension. */
  inside(scope: Scope): Frame {
    const frame = new Frame(this.module, this.lines, scope, this.home);
    frame.self = this.self;
    return frame;
  }
}

/** How a list of statements ended; undefined means that it ran to its end. */
export type Completion =
  | undefined
  | { kind: 'return'; value: Value }
  | { kind: 'break' }
  | { kind: 'continue' }
  /** An unknown condition let it end in several ways. None of them takes effect until it is continued. */
  | ({ kind: 'split' } & Followed<Completion>);

export interface Doubts {
  /** An exception that the pack raises under an unknown condition. */
  raised?: object | undefined;
  /** Whether it uses something that may be missing: a package that the host doesn't require, or a folder of it. */
  isMissing?: boolean | undefined;
}

interface OwnModules {
  /** Imports one of them; undefined if none has that name. */
  importOwn(path: string): Module | undefined;
  /** Makes one without running it, and runs it. */
  makeOwn(path: string): Module | undefined;
  runOwn(module: Module): void;
  importNamed(name: string, level: number, from: Module): Value;
  attribute(module: Module, name: string): Value | undefined;
}

/** The interpreter as seen by its parts: they call each other through it, without importing each other. */
export interface Machine {
  readonly budget: Budget;
  readonly heap: Heap;
  readonly files: FileTree;
  readonly risks: Risks;
  readonly modules: OwnModules;
  evaluate(node: ExprNode, frame: Frame): Value;
  execute(body: readonly StmtNode[], frame: Frame): Completion;
  call(callee: Value, args?: Value[], keywords?: Keywords): Value;
  attribute(value: Value, name: string): Value;
  setAttribute(target: Value, name: string, value: Value): void;
  iterate(value: Value): Generator<Value>;
  /** A value of an outside package, by its dotted name: a model's, or unknown. */
  outside(path: string): Value;
  setOutside(path: string, value: Value): void;
  /** Failures that the running `try` may have in reality, although the evaluation continues. */
  doubts: Doubts;
  note(text: string): void;
  /** Sets the running statement and its module. */
  at(module: Module, node: StmtNode): void;
  /** Records a way of an unknown condition that raised, and the keys under which it had put classes. */
  drop(error: unknown, keys: readonly string[]): void;
  /** Marks the code of such a way as being about the list of nodes. */
  blame(error: unknown): void;
}
