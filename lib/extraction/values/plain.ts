import { PythonObject, type Value } from './values.ts';

/** A value that only running the pack, or a package outside of it, could show. It absorbs what is done with it. */
export class Unknown extends PythonObject {
  readonly why: string;
  /** The dotted name it came from, such as `torch.cuda.is_available`. */
  readonly path: string;

  constructor(why: string, path = '') {
    super();
    this.why = why;
    this.path = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  }
}

export class Bytes extends PythonObject {
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }
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
