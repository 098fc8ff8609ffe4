import { BoundMethod, Class, Descriptor, Func, Instance, Native, type NativeCall, Super } from './objects.ts';
import { Bytes, Iterator, Range, Slice, Tuple, Unknown } from './plain.ts';
import { Dict, List, Module, PythonSet, type Value } from './values.ts';

export const objectType = builtinType('object');
export const typeType = builtinType('type');
const noneType = builtinType('NoneType');
export const intType = builtinType('int');
const boolType = builtinType('bool', intType);
export const floatType = builtinType('float');
export const strType = builtinType('str');
export const bytesType = openType('bytes');
export const listType = builtinType('list');
export const tupleType = builtinType('tuple');
export const dictType = builtinType('dict');
export const setType = builtinType('set');
export const frozensetType = builtinType('frozenset');
const rangeType = builtinType('range');
const sliceType = builtinType('slice');
const functionType = builtinType('function');
const methodType = builtinType('method');
const nativeType = builtinType('builtin_function_or_method');
const moduleType = builtinType('module');
const iteratorType = builtinType('generator');
const propertyType = builtinType('property');
const classmethodType = builtinType('classmethod');
const staticmethodType = builtinType('staticmethod');
export const superType = builtinType('super');
const symbolicType = builtinType('ellipsis');
export const enumType = builtinType('Enum');
export const pathType = openType('Path');
export const fileType = openType('TextIOWrapper');
export const patternType = openType('Pattern');
export const matchType = openType('Match');

export function builtinType(name: string, base?: Class): Class {
  const parent = base ?? (name === 'object' ? undefined : objectType);
  const type = new Class(name, parent ? [parent] : [], true);
  type.mro = [type, ...(parent?.mro ?? [])];
  return type;
}

/** Makes a class of the host or the library that has more members than its model: those are unknown. */
export function openType(name: string, base?: Class): Class {
  const type = builtinType(name, base);
  type.hasMoreMembers = true;
  return type;
}

export type Methods = Record<string, NativeCall>;

/** Gives a class its methods; each gets the instance as its first argument. */
export function addMethods(type: Class, methods: Methods): void {
  for (const [name, run] of Object.entries(methods)) type.define(name, new Native(name, run, true));
}

/** The types that a program can name. */
export const namedTypes = [
  ...[objectType, typeType, intType, boolType, floatType, strType, bytesType, listType, tupleType],
  ...[dictType, setType, frozensetType, rangeType, sliceType],
  ...[propertyType, classmethodType, staticmethodType, superType],
];

const kinds: [new (...args: never[]) => object, Class][] = [
  [List, listType],
  [Bytes, bytesType],
  [Tuple, tupleType],
  [Dict, dictType],
  [Range, rangeType],
  [Slice, sliceType],
  [Iterator, iteratorType],
  [Func, functionType],
  [BoundMethod, methodType],
  [Native, nativeType],
  [Module, moduleType],
  [Super, superType],
];
const typeByKind = new Map<unknown, Class>(kinds);

export function typeOf(value: Value): Class {
  if (value === null) return noneType;
  if (typeof value === 'string') return strType;
  if (typeof value === 'bigint') return intType;
  if (typeof value === 'number') return floatType;
  if (typeof value === 'boolean') return boolType;
  if (value instanceof Instance) return value.cls;
  if (value instanceof Class) return value.metaclass instanceof Class ? value.metaclass : typeType;
  if (value instanceof PythonSet) return value.frozen ? frozensetType : setType;
  if (value instanceof Descriptor) {
    if (value.kind === 'property') return propertyType;
    return value.kind === 'classmethod' ? classmethodType : staticmethodType;
  }
  return typeByKind.get(value.constructor) ?? symbolicType;
}

/** Each exception with the classes that derive from it. */
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
  const root = builtinType('BaseException');
  addMethods(root, {
    __init__: (machine, [self = null, ...args]) => {
      machine.setAttribute(self, 'args', new Tuple(args));
      return null;
    },
  });
  const types = new Map([['BaseException', root]]);
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

export function exceptionType(name: string): Class {
  const type = exceptionTypes.get(name);
  if (!type) throw new Error(`The exception ${name} is unknown.`);
  return type;
}

/**
 * An exception of the pack, on its way to a matching `except`. It isn't an Error: a pack may raise a million,
 * and each would pay for a stack trace.
 */
export class Raised {
  readonly value: Value;
  /** Why this interpreter raised it, in other words than Python's. */
  readonly #why: string | undefined;

  constructor(value: Value, why?: string) {
    this.value = value;
    this.#why = why;
  }

  /** The text for a person: the class and the first argument. */
  toString(): string {
    if (!(this.value instanceof Instance)) return 'an unknown exception';
    const args = this.value.own('args');
    const first = this.#why ?? (args instanceof Tuple ? args.items[0] : undefined);
    return typeof first === 'string' ? `${this.value.cls.name}: ${first.slice(0, 200)}` : this.value.cls.name;
  }
}

/** Whether the pack's code raised this built-in exception of Python. */
export function isRaised(error: unknown, type: string): boolean {
  return (
    error instanceof Raised &&
    error.value instanceof Instance &&
    error.value.cls.inherits(exceptionType(type))
  );
}

export function raise(type: string, message: string): never {
  throw new Raised(exceptionOf(exceptionType(type), [new Unknown("Python's words")]), message);
}
