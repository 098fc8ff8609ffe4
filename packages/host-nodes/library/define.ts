import { Native, type NativeCall } from '../values/objects.ts';
import type { Keywords, Value } from '../values/values.ts';

export type Models = [path: string, value: Value][];

export function natives(prefix: string, functions: Record<string, NativeCall>): Models {
  return Object.entries(functions).map(([name, run]) => [`${prefix}.${name}`, new Native(name, run)]);
}

export function argument(
  args: readonly Value[],
  keywords: Keywords,
  index: number,
  name: string,
): Value | undefined {
  return index < args.length ? args[index] : keywords.get(name);
}
