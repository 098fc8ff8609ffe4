import type { Item } from './attribute-values.ts';

interface TypedRead<Record> {
  (item: Item): Record;
  (item: Item | undefined): Record | undefined;
}

/** The only cast of a record: this code wrote that type under this kind of key. */
export function typedRead<Record>(): TypedRead<Record> {
  return ((item: Item | undefined) => item as Record | undefined) as TypedRead<Record>;
}
