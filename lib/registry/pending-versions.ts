import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { ApiError } from '../errors.ts';
import { fromAttributes, type Item, toAttribute } from '../store/attribute-values.ts';
import { type Key, pendingIndex } from '../store/keys.ts';
import { dynamodb, readBatches, storeError, tableName } from '../store/table.ts';

/** A version on the list of what is left to do; `awaits` is its upload, where it still waits for one. */
export interface ListedVersion {
  nodeId: string;
  version: string;
  versionId: string;
  reason: string;
  since: string;
  awaits: string | undefined;
}

const shards = [...'0123456789abcdef'];

/** The versions listed between two times, oldest first; what was written just before may not show yet. */
export async function findListedVersions(
  from: string,
  to: string,
  deadline: number,
): Promise<ListedVersion[]> {
  const keys = (await Promise.all(shards.map((shard) => keysOf(shard, from, to)))).flat();
  // A version that is published again while the index is read can stand on two of its pages.
  const distinct = new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key]));
  const { items, unread } = await readBatches([...distinct.values()], deadline);
  if (unread.size > 0) throw new ApiError('unavailable');
  return items
    .filter((item) => item?.pending_since !== undefined)
    .map((item) => listed(item as Item))
    .toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

function listed(item: Item): ListedVersion {
  const isPending = item.status === 'NodeVersionStatusPending';
  return {
    nodeId: String(item.node_id),
    version: String(item.version),
    versionId: String(item.id),
    reason: String(item.status_reason ?? ''),
    since: String(item.pending_since),
    awaits: isPending ? String(item.upload_id) : undefined,
  };
}

async function keysOf(shard: string, from: string, to: string): Promise<Key[]> {
  const keys: Key[] = [];
  let start: Awaited<ReturnType<typeof page>>['LastEvaluatedKey'];
  do {
    const { Items = [], LastEvaluatedKey } = await page(shard, from, to, start);
    for (const attributes of Items) {
      const { pk, sk } = fromAttributes(attributes);
      keys.push({ pk: String(pk), sk: String(sk) });
    }
    start = LastEvaluatedKey;
  } while (start !== undefined);
  return keys;
}

function page(shard: string, from: string, to: string, start: QueryCommand['input']['ExclusiveStartKey']) {
  const query = new QueryCommand({
    TableName: tableName,
    IndexName: pendingIndex,
    KeyConditionExpression: 'pending_shard = :shard AND pending_since BETWEEN :from AND :to',
    ExpressionAttributeValues: {
      ':shard': toAttribute(shard),
      ':from': toAttribute(from),
      ':to': toAttribute(to),
    },
    ...(start && { ExclusiveStartKey: start }),
  });
  return dynamodb.send(query).catch((error: unknown) => {
    throw storeError(error);
  });
}
