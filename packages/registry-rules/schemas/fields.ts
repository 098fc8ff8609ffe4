import * as z from 'zod/mini';
import { hasNoHiddenCharacters, hiddenMessage } from '../hidden-characters.ts';

/** A point in time as RFC 3339 writes it. zod's own pattern also knows days of months, at the price of a kilobyte. */
export const Timestamp = z
  .string()
  .check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/))
  .with(z.meta({ format: 'date-time' }));

/** How many items a list of a record may have; the record as a whole has a bound of its own. */
export const maxRecordItems = 1000;

/**
 * A list of bounded length. zod checks the length before the items: a body can hold a million of them, and each
 * wrong one would make an issue.
 */
export function list<Item extends z.ZodMiniType>(item: Item, maxItems: number) {
  return z.array(item).check(z.maxLength(maxItems));
}

/** A list of texts in a record. */
export function texts() {
  return list(z.string(), maxRecordItems);
}

/** A text by which people tell things apart. */
export const plainText = z.string().check(z.refine(hasNoHiddenCharacters, hiddenMessage));

export function tags() {
  return list(plainText, maxRecordItems);
}

type Clearable<Shape extends z.core.$ZodShape> = {
  [Field in keyof Shape]: z.ZodMiniOptional<z.ZodMiniNullable<Shape[Field]>>;
};

/** Fields of a partial update: absent keeps the value, null clears it, anything else replaces it. */
export function clearable<Shape extends Record<string, z.ZodMiniType>>(shape: Shape): Clearable<Shape> {
  const entries = Object.entries(shape).map(([field, schema]) => [field, z.nullish(schema)]);
  return Object.fromEntries(entries) as Clearable<Shape>;
}

/** Describes a field of an answer that the interface does not have. */
export function added(description: string) {
  return z.describe(`Added by this service: ${description}`);
}

/** Clients send null, "" or [] for a field that they do not set, which is the same as not sending it. */
export function isUnset(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}
