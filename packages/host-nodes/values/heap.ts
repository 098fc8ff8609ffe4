import { PythonObject, type Value } from './values.ts';

/*
 * An unknown condition sends the evaluation both ways. Each way starts from the same state, so whatever can change
 * is a Store, and a journal keeps what each store held before its first change on the way.
 */

let births = 0;

/** Something that can change. Its number says which is older, and stands for its identity. */
export abstract class Store extends PythonObject {
  readonly born: number;
  /** The store that really holds what this one shows. */
  owner: Store | undefined;

  constructor() {
    super();
    births += 1;
    this.born = births;
  }

  /** What it holds, as a copy. */
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
  /** Whether it is there only under a condition that is unknown. */
  conditional: boolean;
}

interface Journal {
  start: number;
  before: Map<Store, Snapshot>;
}

/** What a way led to. */
export interface Way<Result> {
  result?: Result;
  error?: unknown;
  after: Map<Store, Snapshot>;
}

/** Ways from one state, and what the stores they changed held before. */
export interface Followed<Result> {
  ways: Way<Result>[];
  before: ReadonlyMap<Store, Snapshot>;
}

export class Heap {
  readonly #spend: (steps: number) => void;
  readonly #journals: Journal[] = [];

  constructor(spend: (steps: number) => void) {
    this.#spend = spend;
  }

  /** To be called before a store changes. */
  touch(changing: Store): void {
    const journal = this.#journals.at(-1);
    const store = changing.owner ?? changing;
    if (!journal || store.born > journal.start || journal.before.has(store)) return;
    const snapshot = store.snapshot();
    this.#spend(1 + (snapshot.size >> 1));
    journal.before.set(store, snapshot);
  }

  /** Follows one way and takes everything back that it changed; an error that `isPart` accepts ends only the way. */
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
