import type { Arguments, ExprNode, StmtNode } from 'py-ast';
import type { Frame, Machine, Scope } from './machine.ts';
import { type Keywords, List, Namespace, PythonObject, type Value } from './values.ts';

/** A value that only running the pack, or a package outside of it, could show. It absorbs what is done with it. */
export class Unknown extends PythonObject {
  readonly why: string;
  /** The dotted name it came from, such as `torch.cuda.is_available`. */
  readonly path: string;
  /** Whether it counts as true, where at least that is known. */
  readonly isTrue: boolean | undefined;

  constructor(why: string, path = '', isTrue?: boolean) {
    super();
    this.isTrue = isTrue;
    this.why = why;
    this.path = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  }
}

/** A module outside of the pack, as an `import` statement binds it. */
export class OutsideModule extends Unknown {}

export const condition = 'it depends on a condition';

/** Where a list has items of which it is unknown how many there are, and in what order: those they may be. */
export class Several extends Unknown {
  readonly items: readonly Value[];

  constructor(why: string, items: readonly Value[]) {
    super(why);
    this.items = items;
  }
}

/** Whether it is known how many items there are, and where. */
export function isCounted(machine: Machine, items: readonly Value[]): boolean {
  machine.budget.read(items.length);
  return !items.some((item) => item instanceof Several);
}

/** Whether two values are one, as texts of the same characters are. */
export function isSame(machine: Machine, left: Value | undefined, right: Value | undefined): boolean {
  if (typeof left === 'string' && typeof right === 'string' && left.length === right.length)
    machine.budget.read(left.length);
  return left === right;
}

/** What may be in a list, or may not. */
export function maybe(value: Value): Several {
  return value instanceof Several ? value : new Several(condition, [value]);
}

export class Tuple extends PythonObject {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
}

export class Range extends PythonObject {
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;

  constructor(start: bigint, stop: bigint, step: bigint) {
    super();
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

export class Slice extends PythonObject {
  readonly start: Value;
  readonly stop: Value;
  readonly step: Value;

  constructor(start: Value, stop: Value, step: Value) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
  }
}

/** What `iter`, generators and the lazy built-ins give: items that are taken once. */
export class Iterator extends PythonObject {
  readonly items: globalThis.Iterator<Value>;

  constructor(items: globalThis.Iterator<Value>) {
    super();
    this.items = items;
  }
}

/** `...` and `NotImplemented`. */
export class Symbolic extends PythonObject {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

export const ellipsis = new Symbolic('Ellipsis');
export const notImplemented = new Symbolic('NotImplemented');

export type NativeCall = (machine: Machine, args: Value[], keywords: Keywords) => Value;

/** A function of Python's or of a model. */
export class Native extends PythonObject {
  readonly name: string;
  readonly run: NativeCall;
  /** Whether it becomes a method when it is read from an instance. */
  readonly binds: boolean;

  constructor(name: string, run: NativeCall, binds = false) {
    super();
    this.name = name;
    this.run = run;
    this.binds = binds;
  }
}

export class BoundMethod extends PythonObject {
  readonly self: Value;
  readonly func: Value;

  constructor(self: Value, func: Value) {
    super();
    this.self = self;
    this.func = func;
  }
}

export class Descriptor extends PythonObject {
  readonly kind: 'property' | 'classmethod' | 'staticmethod';
  readonly func: Value;
  readonly setter: Value;

  constructor(kind: 'property' | 'classmethod' | 'staticmethod', func: Value, setter: Value = null) {
    super();
    this.kind = kind;
    this.func = func;
    this.setter = setter;
  }
}

export class Super extends PythonObject {
  readonly after: Class;
  readonly self: Value;

  constructor(after: Class, self: Value) {
    super();
    this.after = after;
    this.self = self;
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
