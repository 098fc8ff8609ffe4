import { type Machine, PythonObject, type Value } from './values.ts';

/** A value that only running the pack, or an outside package, could show. Operations on it are unknown too. */
export class Unknown extends PythonObject {
  readonly why: string;
  /** The dotted name it came from, such as `torch.cuda.is_available`. */
  readonly path: string;
  /** Whether it counts as true, if at least that is known. */
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

/** The items that a list may have, if their number and order are unknown. */
export class Several extends Unknown {
  readonly items: readonly Value[];

  constructor(why: string, items: readonly Value[]) {
    super(why);
    this.items = items;
  }
}

/** Whether the number and positions of the items are known. */
export function isCounted(machine: Machine, items: readonly Value[]): boolean {
  machine.budget.read(items.length);
  return !items.some((item) => item instanceof Several);
}

/** Whether two values are identical; strings are if their characters are. */
export function isSame(machine: Machine, left: Value | undefined, right: Value | undefined): boolean {
  if (typeof left === 'string' && typeof right === 'string' && left.length === right.length)
    machine.budget.read(left.length);
  return left === right;
}

/** An item that a list may or may not have. */
export function maybe(value: Value): Several {
  return value instanceof Several ? value : new Several(condition, [value]);
}

export class Tuple extends PythonObject {
  readonly items: readonly Value[];
  readonly order: string | undefined;

  constructor(items: readonly Value[], order?: string) {
    super();
    this.items = items;
    this.order = order;
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

/** The result of `iter`, generators and lazy built-ins: each item can be taken once. */
export class Iterator extends PythonObject {
  readonly items: globalThis.Iterator<Value>;
  readonly order: string | undefined;

  constructor(items: globalThis.Iterator<Value>, order?: string) {
    super();
    this.items = items;
    this.order = order;
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

/** Known bytes, as characters up to 255. For all but a few functions they are unknown. */
export class Bytes extends Unknown {
  readonly text: string;

  constructor(text: string) {
    super('bytes');
    this.text = text;
  }
}

/** A text in UTF-8; undefined for one that Python can't encode. */
export function encoded(text: string): Bytes | undefined {
  return text.isWellFormed() ? new Bytes(Buffer.from(text).toString('latin1')) : undefined;
}

/** The text of UTF-8; undefined for other bytes. */
export function decoded({ text }: Bytes): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return undefined;
  }
}
