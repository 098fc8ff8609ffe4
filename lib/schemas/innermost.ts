import type * as z from 'zod/mini';

/** The parts of a schema's definition that lead to its fields. */
interface Definition {
  shape?: Record<string, z.core.$ZodType>;
  element?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
  out?: z.core.$ZodType;
}

/** The schema of the object, list or value within optional ones, defaults and pipes. */
export function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const definition: Definition & z.core.$ZodTypeDef = schema._zod.def;
  const { innerType, out } = definition;
  // One side of a pipe is a function, which has no fields.
  const inner = innerType ?? (out?._zod.def.type === 'transform' ? definition.in : out);
  return inner ? innermost(inner) : schema;
}

/** The fields of an innermost object, or the items of a list. */
export function partsOf({ _zod }: z.core.$ZodType): Pick<Definition, 'shape' | 'element'> {
  const definition: Definition & z.core.$ZodTypeDef = _zod.def;
  return definition;
}
