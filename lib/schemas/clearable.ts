import * as z from 'zod/mini';

type Clearable<Shape extends z.core.$ZodShape> = {
  [Field in keyof Shape]: z.ZodMiniOptional<z.ZodMiniNullable<Shape[Field]>>;
};

/** Fields of a partial update: absent keeps the value, null clears it, anything else replaces it. */
export function clearable<Shape extends Record<string, z.ZodMiniType>>(shape: Shape): Clearable<Shape> {
  const entries = Object.entries(shape).map(([field, schema]) => [field, z.nullish(schema)]);
  return Object.fromEntries(entries) as Clearable<Shape>;
}
