/*
 * Python's values. None, booleans, integers, floats and texts are JavaScript's null, boolean, bigint, number and string;
 * everything else is an object of a class in plain.ts, collections.ts or objects.ts. Names that a pack chooses are keys
 * of Maps only, so that `__proto__` is a name like any other.
 */

/** What the classes of Python's values have in common: nothing but that they are such. */
export abstract class PythonObject {
  declare protected readonly brand: 'a Python value';
}

export type Value = null | boolean | bigint | number | string | PythonObject;

export type Keywords = ReadonlyMap<string, Value>;
