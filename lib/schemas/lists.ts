import * as z from 'zod/mini';

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
