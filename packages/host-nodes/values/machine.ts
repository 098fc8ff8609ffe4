import type { ExprNode, StmtNode } from 'py-ast';
import type { Budget } from '../limits.ts';
import type { FileTree } from '../files.ts';
import type { Risks } from '../risks.ts';
import { List, Namespace } from './values.ts';
import type { Followed, Heap, Keywords, Module, Value } from './values.ts';

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
