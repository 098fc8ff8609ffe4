import type * as z from 'zod/mini';

/** The parts of a schema's definition that lead to its fields. */
interface Definition extends z.core.$ZodTypeDef {
  shape?: Record<string, z.core.$ZodType>;
  element?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
  out?: z.core.$ZodType;
}

interface Innermost {
  schema: z.core.$ZodType;
  shape: Definition['shape'];
  element: Definition['element'];
}

/** The schema within optional ones, defaults and pipes, with the fields of its object or the items of its list. */
export function innermost(schema: z.core.$ZodType): Innermost {
  const { innerType, in: input, out, shape, element }: Definition = schema._zod.def;
  // One side of a pipe is a function, which has no fields.
  const inner = innerType ?? (out?._zod.def.type === 'transform' ? input : out);
  return inner ? innermost(inner) : { schema, shape, element };
}
