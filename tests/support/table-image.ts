import { isDeepStrictEqual } from 'node:util';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  paginateScan,
  type ScanCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { asOperator } from './roles.ts';

export type StoredItem = Record<string, AttributeValue>;

/** Every item of the table in its stored form, by key: two images are equal only if every byte is. */
export type TableImage = ReadonlyMap<string, StoredItem>;

/** A fault or a fake may look at the table in the middle of a function's work. */
export const readTable = () => asOperator(readAll);

async function readAll(): Promise<TableImage> {
  const image = new Map<string, StoredItem>();
  const pages: AsyncIterable<ScanCommandOutput> = paginateScan(
    { client: dynamodb },
    { TableName: tableName(), ConsistentRead: true },
  );
  for await (const { Items = [] } of pages)
    for (const item of Items) image.set(nameOf(item.pk?.S, item.sk?.S), item);
  return image;
}

/** The keys of the items that were added, removed or changed. */
export function differences(before: TableImage, after: TableImage): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)));
}

/** Restores an earlier image of the table; `now` is the current one. */
export async function restoreTable(image: TableImage, now: TableImage): Promise<void> {
  const requests = differences(image, now).map((name): WriteRequest => {
    const item = image.get(name);
    const { pk, sk } = (item ?? now.get(name)) as { pk: AttributeValue; sk: AttributeValue };
    return item ? { PutRequest: { Item: item } } : { DeleteRequest: { Key: { pk, sk } } };
  });
  const maxBatch = 25;
  for (let start = 0; start < requests.length; start += maxBatch) {
    const batch = { [tableName()]: requests.slice(start, start + maxBatch) };
    await dynamodb.send(new BatchWriteItemCommand({ RequestItems: batch }));
  }
}

/** Removes everything that an earlier check has stored. */
export async function emptyTable(): Promise<void> {
  await restoreTable(new Map(), await readTable());
}

/** The name of an item in a table image. */
export function nameOf(pk: string | undefined, sk: string | undefined): string {
  return `${pk} ${sk}`;
}
