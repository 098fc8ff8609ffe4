import { builtinType } from './builtin-types.ts';
import { type Class, Instance } from './objects.ts';
import { Tuple, type Value } from './values.ts';

/** Each exception with those that derive from it. */
const derived = {
  BaseException: 'Exception SystemExit KeyboardInterrupt',
  Exception:
    'ArithmeticError AssertionError AttributeError ImportError LookupError NameError OSError RuntimeError StopIteration SyntaxError TypeError ValueError MemoryError EOFError Warning ExceptionGroup',
  ArithmeticError: 'ZeroDivisionError OverflowError',
  ImportError: 'ModuleNotFoundError',
  LookupError: 'IndexError KeyError',
  NameError: 'UnboundLocalError',
  OSError:
    'FileNotFoundError FileExistsError NotADirectoryError IsADirectoryError PermissionError TimeoutError ConnectionError',
  RuntimeError: 'NotImplementedError RecursionError',
  ValueError: 'UnicodeDecodeError JSONDecodeError',
  Warning: 'UserWarning DeprecationWarning FutureWarning RuntimeWarning',
};

export const exceptionTypes: ReadonlyMap<string, Class> = makeTypes();

function makeTypes(): Map<string, Class> {
  const types = new Map([['BaseException', builtinType('BaseException')]]);
  for (const [parent, names] of Object.entries(derived)) {
    for (const name of names.split(' ')) types.set(name, builtinType(name, types.get(parent)));
  }
  for (const type of types.values()) {
    type.construct = (_machine, cls, args) => exceptionOf(cls, args);
  }
  return types;
}

export function exceptionOf(type: Class, args: Value[]): Instance {
  const exception = new Instance(type);
  exception.define('args', new Tuple(args));
  return exception;
}

function exceptionType(name: string): Class {
  const type = exceptionTypes.get(name);
  if (!type) throw new Error(`There is no exception ${name}.`);
  return type;
}

/**
 * An exception of the pack's, on its way to an `except` that takes it. It is no Error: a pack may raise a million,
 * and each would pay for a stack trace.
 */
export class Raised {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }

  /** What a person reads: the class and the first argument. */
  toString(): string {
    if (!(this.value instanceof Instance)) return 'an unknown exception';
    const args = this.value.own('args');
    const first = args instanceof Tuple ? args.items[0] : undefined;
    return typeof first === 'string' ? `${this.value.cls.name}: ${first.slice(0, 200)}` : this.value.cls.name;
  }
}

/** Whether the pack's code ended with one of Python's own exceptions. */
export function isRaised(error: unknown, type: string): boolean {
  return (
    error instanceof Raised &&
    error.value instanceof Instance &&
    error.value.cls.inherits(exceptionType(type))
  );
}

/** Raises one of Python's own exceptions. */
export function raise(type: string, message: string): never {
  throw new Raised(exceptionOf(exceptionType(type), [message]));
}
