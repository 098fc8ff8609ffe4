import {
  BatchWriteItemCommand,
  paginateScan,
  type ScanCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../../lib/store/attribute-values.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';

/** Every item of the table in its stored form, by key: two images are equal where not one byte differs. */
export type TableImage = ReadonlyMap<string, AttributeMap>;

export async function readTable(): Promise<TableImage> {
  const image = new Map<string, AttributeMap>();
  const pages: AsyncIterable<ScanCommandOutput> = paginateScan(
    { client: dynamodb },
    { TableName: tableName, ConsistentRead: true },
  );
  for await (const { Items = [] } of pages) for (const item of Items) image.set(nameOf(item), item);
  return image;
}

/** The keys of what was added, taken away or changed. */
export function differences(before: TableImage, after: TableImage): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => canonical(before.get(name)) !== canonical(after.get(name)));
}

/** Brings the table back to an earlier image. */
export async function restoreTable(image: TableImage): Promise<void> {
  const now = await readTable();
  const requests = differences(image, now).map((name): WriteRequest => {
    const item = image.get(name);
    const { pk, sk } = (item ?? now.get(name)) as AttributeMap;
    return item ? { PutRequest: { Item: item } } : { DeleteRequest: { Key: { pk, sk } as AttributeMap } };
  });
  const mostAtOnce = 25;
  for (let start = 0; start < requests.length; start += mostAtOnce) {
    const batch = { [tableName]: requests.slice(start, start + mostAtOnce) };
    await dynamodb.send(new BatchWriteItemCommand({ RequestItems: batch }));
  }
}

function nameOf({ pk, sk }: AttributeMap): string {
  return `${pk?.S} ${sk?.S}`;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
