import type { Dict, List, Module, PythonSet } from './collections.ts';
import type { BoundMethod, Class, Descriptor, Func, Instance, Native, Super } from './objects.ts';
import type { Bytes, Iterator, Range, Slice, Symbolic, Tuple, Unknown } from './plain.ts';

/*
 * Python's values. None, booleans, integers, floats and texts are JavaScript's null, boolean, bigint, number and
 * string; everything else is one of the classes below. Names that a pack chooses are keys of Maps only, so that
 * `__proto__` is a name like any other.
 */

export type Value = null | boolean | bigint | number | string | PythonObject;

export type PythonObject =
  | Bytes
  | List
  | Tuple
  | Dict
  | PythonSet
  | Range
  | Slice
  | Iterator
  | Func
  | BoundMethod
  | Native
  | Class
  | Instance
  | Module
  | Descriptor
  | Super
  | Symbolic
  | Unknown;

export type Keywords = ReadonlyMap<string, Value>;
