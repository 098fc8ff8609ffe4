import * as z from 'zod/mini';
import { hasNoHiddenCharacters, hiddenMessage } from '../hidden-characters.ts';

/** A point in time in RFC 3339's format. zod's own pattern also checks the days of months, but adds a kilobyte. */
export const Timestamp = z
  .string()
  .check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/))
  .with(z.meta({ format: 'date-time' }));

/** The most items in a record's list; the whole record has a limit of its own. */
export const maxRecordItems = 1000;

/**
 * A list of limited length. zod checks the length before the items: a body may contain a million of them, and
 * each invalid one would make an issue.
 */
export function list<Item extends z.ZodMiniType>(item: Item, maxItems: number) {
  return z.array(item).check(z.maxLength(maxItems));
}

/** A list of texts in a record. */
export function texts() {
  return list(z.string(), maxRecordItems);
}

/** A text that people use to tell things apart. */
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

/** Describes a field of a response that the interface doesn't have. */
export function added(description: string) {
  return z.describe(`Added by this service: ${description}`);
}

/** Clients send null, "" or [] for a field that they don't set, which equals not sending it. */
export function isUnset(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/**
 * The fields of a resource, by its input schema. Clients send back what they have read, so an input with a field that only
 * the service sets is accepted, and the field ignored.
 */
export const sentBackFields = z.registry<{ names: readonly string[] }>();
