import { BatchGetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { inParts } from '../in-parallel.ts';
import { type AttributeMap, fromAttributes, type Item, toAttributes } from './items.ts';
import { type Key, keyName, keyOf, pendingIndex, versionsIndex } from './keys.ts';
import { dynamodb, KeysThrottled, tableName, untilAnswered } from './dynamodb.ts';

/** DynamoDB's limit for one BatchGetItem. */
export const maxBatchKeys = 100;

interface ReadOptions {
  /** Costs half of a consistent read. It may miss writes of the last second. */
  eventually?: boolean;
  /** Only these attributes; the key must be among them. */
  fields?: readonly string[];
}

interface Batch {
  items: Item[];
  /** Keys that the store, throttled or down, didn't return in time. */
  unread: Key[];
  /** Why some are unread. */
  failure?: ApiError;
  /** Of the items as JSON. */
  bytes: number;
}

/** Reads all keys in one request, or fails as a whole. For everything that an operation needs to decide. */
export async function get<Keys extends readonly Key[]>(
  context: Context,
  ...keys: Keys
): Promise<{ [K in keyof Keys]: Item | undefined }> {
  const found = new Map((await readAll(context, keys)).map((item) => [keyName(item), item]));
  return keys.map((key) => found.get(keyName(key))) as { [K in keyof Keys]: Item | undefined };
}

/** The existing items under distinct keys, in any order. Also fails as a whole. */
export async function readAll(
  context: Context,
  keys: readonly Key[],
  options?: ReadOptions,
): Promise<Item[]> {
  const batches = await readBatches(context, keys.map(keyOf), options);
  const failed = batches.find(({ failure }) => failure);
  if (failed) throw failed.failure;
  return batches.flatMap(({ items }) => items);
}

/** Reads any number of distinct keys, 100 a request. All requests leave at once. */
export function readBatches(
  context: Context,
  keys: readonly Key[],
  options: ReadOptions = {},
): Promise<Batch[]> {
  return Promise.all(inParts(keys, maxBatchKeys).map((part) => readBatch(context, part, options)));
}

async function readBatch(context: Context, keys: readonly Key[], options: ReadOptions): Promise<Batch> {
  const batch: Batch = { items: [], unread: [], bytes: 0 };
  let pending: AttributeMap[] = keys.map(toAttributes);
  const readSome = async () => {
    const reply = await sendBatch(pending, options);
    const items = (reply.Responses?.[tableName()] ?? []).map(fromAttributes);
    const bytes = Buffer.byteLength(JSON.stringify(items));
    batch.items.push(...items);
    batch.bytes += bytes;
    pending = reply.UnprocessedKeys?.[tableName()]?.Keys ?? [];
    if (pending.length > 0 && bytes < fullAnswerBytes) throw new KeysThrottled();
  };
  try {
    while (pending.length > 0) await untilAnswered(context, 'BatchGetItem', readSome);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    batch.failure = error;
  }
  batch.unread = pending.map((attributes) => keyOf(fromAttributes(attributes)));
  return batch;
}

/** One reply holds 1 MB of a partition. If a much smaller one leaves keys out, the store is throttled. */
const fullAnswerBytes = 900_000;

async function sendBatch(Keys: AttributeMap[], { eventually = false, fields }: ReadOptions) {
  const projection = fields && {
    ProjectionExpression: fields.map((_, index) => `#f${index}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(fields.map((field, index) => [`#f${index}`, field])),
  };
  const command = new BatchGetItemCommand({
    RequestItems: { [tableName()]: { Keys, ConsistentRead: !eventually, ...projection } },
  });
  return dynamodb.send(command);
}

/**
 * The items below a key: of its partition, those whose sort keys begin with its own. Or what is due in a shard. Or a few
 * fields of the versions of a node, the oldest first.
 */
export type Range = { below: Key } | { shard: string; until: string } | { versionsOf: Key };

interface Page {
  items: Item[];
  /** The key after which the next page begins; undefined on the last one. */
  last: AttributeMap | undefined;
}

interface PageOptions {
  limit?: number | undefined;
  after?: AttributeMap | undefined;
  descending?: boolean;
}

/** One page of a range, in the order of its sort key. */
export async function queryPage(
  context: Context,
  range: Range,
  { limit, after, descending = false }: PageOptions = {},
): Promise<Page> {
  const where = placeOf(range);
  const command = new QueryCommand({
    TableName: tableName(),
    IndexName: where.IndexName,
    KeyConditionExpression: `#partition = :partition AND ${where.test}`,
    ExpressionAttributeNames: { '#partition': where.names[0], '#sort': where.names[1] },
    ExpressionAttributeValues: toAttributes({ ':partition': where.partition, ':sort': where.sort }),
    ScanIndexForward: !descending,
    ExclusiveStartKey: after,
    Limit: limit,
    // A global index is eventually consistent, and rejects a consistent read.
    ConsistentRead: where.IndexName !== pendingIndex,
  });
  const page = await untilAnswered(context, 'Query', () => dynamodb.send(command));
  return { items: (page.Items ?? []).map(fromAttributes), last: page.LastEvaluatedKey };
}

function placeOf(range: Range) {
  if ('below' in range) {
    const { pk: partition, sk: sort } = range.below;
    return { names: ['pk', 'sk'], partition, sort, test: 'begins_with(#sort, :sort)' } as const;
  }
  const test = '#sort <= :sort';
  if ('versionsOf' in range) {
    const names = ['pk', 'createdAt'] as const;
    return { IndexName: versionsIndex, names, partition: range.versionsOf.pk, sort: '9', test } as const;
  }
  const names = ['pending_shard', 'pending_since'] as const;
  return { IndexName: pendingIndex, names, partition: range.shard, sort: range.until, test } as const;
}

/** Every item of a range, page by page. Leaving the loop early is safe. */
export async function* query(context: Context, range: Range): AsyncGenerator<Item[]> {
  let after: AttributeMap | undefined;
  do {
    const { items, last } = await queryPage(context, range, { after });
    yield items;
    after = last;
  } while (after);
}

/** All items below a key. */
export async function queryAll(context: Context, below: Key): Promise<Item[]> {
  return (await Array.fromAsync(query(context, { below }))).flat();
}
