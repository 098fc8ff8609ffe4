import { Class, Dict, Func, Instance, List, Module, PythonSet } from './objects.ts';
import { BoundMethod, Descriptor, Iterator, Native, Range, Slice, Super, Tuple } from './values.ts';
import type { NativeCall, Value } from './values.ts';

export const objectType = builtinType('object');
export const typeType = builtinType('type');
const noneType = builtinType('NoneType');
export const intType = builtinType('int');
const boolType = builtinType('bool', intType);
export const floatType = builtinType('float');
export const strType = builtinType('str');
const bytesType = hostType('bytes');
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
export const pathType = builtinType('Path');
export const fileType = builtinType('TextIOWrapper');
export const patternType = builtinType('Pattern');
export const matchType = builtinType('Match');

/** Makes a class of Python's or of a model's. */
export function builtinType(name: string, base?: Class): Class {
  const parent = base ?? (name === 'object' ? undefined : objectType);
  const type = new Class(name, parent ? [parent] : [], true);
  type.mro = [type, ...(parent?.mro ?? [])];
  return type;
}

/** Makes a class of the host's, which may have more than is known of it. */
export function hostType(name: string, base?: Class): Class {
  const type = builtinType(name, base);
  type.hasMoreMembers = true;
  return type;
}

export type Methods = Record<string, NativeCall>;

/** Gives a class its methods; each gets the instance as its first argument. */
export function addMethods(type: Class, methods: Methods): void {
  for (const [name, run] of Object.entries(methods)) type.define(name, new Native(name, run, true));
}

/** Those that a program knows by their names. */
export const namedTypes = [
  ...[objectType, typeType, intType, boolType, floatType, strType, bytesType, listType, tupleType],
  ...[dictType, setType, frozensetType, rangeType, sliceType],
  ...[propertyType, classmethodType, staticmethodType, superType],
];

const kinds: [new (...args: never[]) => object, Class][] = [
  [List, listType],
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

/** The class of a value that is known. */
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
