import type { ExprNode, StmtNode } from 'py-ast';
import { type Files, FileTree } from './files.ts';
import { hostModel } from './host/models.ts';
import { attribute, setAttribute } from './language/attributes.ts';
import { call } from './language/calls.ts';
import { evaluateExpression } from './language/expressions.ts';
import { iterate } from './language/iteration.ts';
import { readName } from './language/names.ts';
import { execute } from './language/statements.ts';
import { libraryModels } from './library/models.ts';
import { type Budget, limits } from './limits.ts';
import { Modules, type Places } from './modules.ts';
import { Risks } from './risks.ts';
import { equipTypes } from './types/constructors.ts';
import { asText, setName } from './values/access.ts';
import { Unknown } from './values/plain.ts';
import { type Doubts, type Frame, Heap, type Machine, Module, type Value } from './values/values.ts';

export interface Dropped {
  why: string;
  place: string;
  keys: readonly string[];
  /** Whether its code is about the list of nodes. */
  isBlamed: boolean;
}

equipTypes();

/** Runs a pack's declarations. Its parts are in `language`; models of library and host are next to it. */
export class Interpreter implements Machine {
  readonly budget: Budget;
  readonly heap: Heap;
  readonly files: FileTree;
  readonly modules: Modules;
  readonly risks = new Risks();
  /** Skipped statements, for the pack's author. */
  readonly notes: string[] = [];
  readonly places: Places = new Map();
  doubts: Doubts = {};
  /** Failed ways of unknown conditions, which count as if they did not exist. */
  readonly dropped: Dropped[] = [];
  #module: Module | undefined;
  #node: StmtNode | undefined;
  #blamed: unknown;
  readonly #models: ReadonlyMap<string, Value>;
  /** Values that the pack sets on modules outside, such as a type of its own among the host's. */
  readonly #patches = new Module('outside', '', false);

  constructor(files: Files, name: string, budget: Budget) {
    this.budget = budget;
    this.heap = new Heap((steps) => budget.spend(steps));
    this.files = new FileTree(files, name);
    this.#models = libraryModels();
    this.modules = new Modules(this, this.#models.get('sys.path') ?? null, this.places);
  }

  evaluate(node: ExprNode, frame: Frame): Value {
    this.budget.spend();
    return node.nodeType === 'Name' ? readName(this, node.id, frame) : evaluateExpression(this, node, frame);
  }

  readonly execute: Machine['execute'] = (body, frame) => execute(this, body, frame);
  readonly call: Machine['call'] = (callee, args, keywords) => call(this, callee, args, keywords);
  readonly attribute: Machine['attribute'] = (value, name) => attribute(this, value, name);
  readonly setAttribute: Machine['setAttribute'] = (target, name, value) =>
    setAttribute(this, target, name, value);
  readonly iterate: Machine['iterate'] = (value) => iterate(this, value);
  readonly setOutside: Machine['setOutside'] = (path, value) =>
    setName(this.heap, this.#patches, path, value);

  outside(path: string): Value {
    const patch = this.#patches.own(path);
    if (patch !== undefined) return patch;
    return this.#models.get(path) ?? hostModel(path) ?? new Unknown('it comes from outside', path);
  }

  at(module: Module, node: StmtNode): void {
    this.#module = module;
    this.#node = node;
  }

  drop(error: unknown, keys: readonly string[]): void {
    // Code that raises on purpose means that the condition doesn't hold.
    if (this.#node?.nodeType === 'Raise' || this.dropped.length >= limits.notes) return;
    const file = this.#module && this.files.inside(asText(this.#module.own('__file__')) ?? '');
    const isBlamed = this.#blamed === error;
    this.dropped.push({ why: String(error), place: `${file}:${this.#node?.lineno}`, keys, isBlamed });
  }

  blame(error: unknown): void {
    this.#blamed = error;
  }

  note(text: string): void {
    if (this.notes.length < limits.notes) this.notes.push(text);
  }
}
