import { plain } from '../values/access.ts';
import { Native, type NativeCall } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import type { Keywords, Value } from '../values/values.ts';

export type Models = [path: string, value: Value][];

export function natives(prefix: string, functions: Record<string, NativeCall>): Models {
  return Object.entries(functions).map(([name, run]) => [`${prefix}.${name}`, new Native(name, run)]);
}

/** A function that is unknown if any argument is. It gets the plain values of derived classes' instances. */
export function pure(run: NativeCall): NativeCall {
  return (machine, args, keywords) => {
    const values = args.map(plain);
    return values.find((value) => value instanceof Unknown) ?? run(machine, values, keywords);
  };
}

export function argument(
  args: readonly Value[],
  keywords: Keywords,
  index: number,
  name: string,
): Value | undefined {
  return index < args.length ? args[index] : keywords.get(name);
}
