import { BatchGetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { inParts } from '../in-parallel.ts';
import {
  type AnyCondition,
  type AttributeMap,
  expressionsOf,
  fromAttributes,
  type Item,
  placed,
  toAttributes,
} from './items.ts';
import { type Key, keyName, keyOf, pendingIndex, versionsIndex } from './keys.ts';
import { dynamodb, KeysThrottled, tableName, untilAnswered } from './dynamodb.ts';

/** DynamoDB's limit for one BatchGetItem. */
export const maxBatchKeys = 100;

interface ReadOptions {
  /** Costs half of a consistent read. It may miss writes of the last second. */
  eventually?: boolean;
  /** Only these attributes; the key must be among them. */
  fields?: readonly string[];
  /** Gets keys that the store, throttled or down, didn't return in time, and why. Without it, the read fails as a whole. */
  onUnread?: (keys: readonly Key[], failure: ApiError) => void;
}

/** Reads all keys in one request, or fails as a whole. For everything that an operation needs to decide. */
export async function get<Keys extends readonly Key[]>(
  context: Context,
  ...keys: Keys
): Promise<{ [K in keyof Keys]: Item | undefined }> {
  const found = new Map((await readAll(context, keys)).map((item) => [keyName(item), item]));
  return keys.map((key) => found.get(keyName(key))) as { [K in keyof Keys]: Item | undefined };
}

/** The existing items under any number of keys, in any order. All requests leave at once. */
export async function readAll(
  context: Context,
  keys: readonly Key[],
  options: ReadOptions = {},
): Promise<Item[]> {
  const distinct = new Map(keys.map((key) => [keyName(key), keyOf(key)]));
  const parts = inParts([...distinct.values()], maxBatchKeys);
  const batches = parts.map((part) => readBatch(context, part, options));
  return (await Promise.all(batches)).flat();
}

async function readBatch(context: Context, keys: readonly Key[], options: ReadOptions): Promise<Item[]> {
  const { eventually = false, fields, onUnread } = options;
  const ExpressionAttributeNames = fields && placed('#n', fields);
  const ProjectionExpression = Object.keys(ExpressionAttributeNames ?? {}).join(', ') || undefined;
  const query = { ConsistentRead: !eventually, ProjectionExpression, ExpressionAttributeNames };
  const items: Item[] = [];
  let Keys: AttributeMap[] = keys.map(toAttributes);
  const readSome = async () => {
    const command = new BatchGetItemCommand({ RequestItems: { [tableName()]: { Keys, ...query } } });
    const { Responses, UnprocessedKeys } = await dynamodb.send(command);
    const found = (Responses?.[tableName()] ?? []).map(fromAttributes);
    items.push(...found);
    Keys = UnprocessedKeys?.[tableName()]?.Keys ?? [];
    // One reply holds 1 MB of a partition. If a much smaller one leaves keys out, the store is throttled.
    if (Keys.length > 0 && bytesOf(found) < 900_000) throw new KeysThrottled();
  };
  try {
    while (Keys.length > 0) await untilAnswered(context, 'BatchGetItem', readSome);
  } catch (error) {
    if (!onUnread || !(error instanceof ApiError)) throw error;
    onUnread(Keys.map(fromAttributes).map(keyOf), error);
  }
  return items;
}

/** The items as JSON, about as large as the store counts them. */
export function bytesOf(items: readonly Item[]): number {
  return Buffer.byteLength(JSON.stringify(items));
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
  const { IndexName, where } = placeOf(range);
  const { ConditionExpression, ...values } = expressionsOf(where);
  const command = new QueryCommand({
    TableName: tableName(),
    IndexName,
    KeyConditionExpression: ConditionExpression,
    ...values,
    ScanIndexForward: !descending,
    ExclusiveStartKey: after,
    Limit: limit,
    // A global index is eventually consistent, and rejects a consistent read.
    ConsistentRead: IndexName !== pendingIndex,
  });
  const page = await untilAnswered(context, 'Query', () => dynamodb.send(command));
  return { items: (page.Items ?? []).map(fromAttributes), last: page.LastEvaluatedKey };
}

function placeOf(range: Range): { IndexName?: string; where: AnyCondition } {
  if ('versionsOf' in range) return { IndexName: versionsIndex, where: [['pk', '=', range.versionsOf.pk]] };
  if ('below' in range) {
    const isBelow = ['sk', 'begins with', range.below.sk] as const;
    return { where: [['pk', '=', range.below.pk], isBelow] };
  }
  const isDue = ['pending_since', '<=', range.until] as const;
  return { IndexName: pendingIndex, where: [['pending_shard', '=', range.shard], isDue] };
}

/** Every item of a range, page by page. Leaving the loop early is safe. */
export async function* query(context: Context, range: Range, limit?: number): AsyncGenerator<Item[]> {
  let after: AttributeMap | undefined;
  do {
    const { items, last } = await queryPage(context, range, { limit, after });
    yield items;
    after = last;
  } while (after);
}

/** All items below a key. */
export async function queryAll(context: Context, below: Key): Promise<Item[]> {
  return (await Array.fromAsync(query(context, { below }))).flat();
}
