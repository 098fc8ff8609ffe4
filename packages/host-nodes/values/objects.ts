import type { Arguments, ExprNode, StmtNode } from 'py-ast';
import {
  type Frame,
  type Keywords,
  List,
  type Machine,
  Namespace,
  PythonObject,
  type Scope,
  type Value,
} from './values.ts';
import { Unknown } from './plain.ts';

/** One that returns nothing returns Python's None. */
export type NativeCall = (machine: Machine, args: Value[], keywords: Keywords) => Value | undefined;

/** A function of Python or of a model. */
export class Native extends PythonObject {
  readonly name: string;
  readonly run: NativeCall;
  /** Whether it becomes a method when read from an instance. */
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

/** How a class that the pack did not define makes an instance. */
export type Construct = (machine: Machine, cls: Class, args: Value[], keywords: Keywords) => Value;

export class Class extends Namespace {
  readonly name: string;
  readonly bases: readonly Value[];
  /** Method resolution order, itself first, without bases outside of the pack. */
  mro: readonly Class[] = [this];
  metaclass: Value = null;
  /** Why a missing attribute may still exist. */
  outside: string | undefined;
  /** Python's own classes and the models': nothing changes them. */
  readonly builtin: boolean;
  /** The model of a host class that has more members than the model: a missing one is unknown. */
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

  /** The dotted names of the bases outside of the pack; empty for an unknown one. */
  basesOutside(): string[] {
    const bases = this.mro.flatMap((cls) => [...cls.bases, cls.metaclass]);
    return bases.flatMap((base) => (base instanceof Unknown ? [base.path] : []));
  }
}

export class Instance extends Namespace {
  readonly cls: Class;
  /** The plain value of an instance whose class derives from str, a number type, list, dict… */
  payload: Value | undefined;

  constructor(cls: Class, payload?: Value) {
    super();
    this.cls = cls;
    this.payload = payload;
  }
}

/** The special method of a value, which Python looks up on its class. */
export function methodOf(value: Value | undefined, name: string): Value | undefined {
  const cls = value instanceof Instance ? value.cls : value instanceof Class ? value.metaclass : null;
  return cls instanceof Class ? cls.find(name) : undefined;
}

/** Why an object may have more than is known: its class derives from something outside of the pack. */
export function outsideBase(value: Value): string | undefined {
  return value instanceof Instance ? value.cls.outside : undefined;
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
