import type { Item } from './attribute-values.ts';

interface TypedRead<Record> {
  (item: Item): Record;
  (item: Item | undefined): Record | undefined;
}

/** The type of the record under a kind of key: this code wrote it there. No record is cast anywhere else. */
export function typedRead<Record>(): TypedRead<Record> {
  return ((item: Item | undefined) => item as Record | undefined) as TypedRead<Record>;
}
