import { ScanCommand, type ScanCommandInput } from '@aws-sdk/client-dynamodb';
import type { Context } from '../../../lib/context.ts';
import { existingNode, existingPublisher, latestFirst } from '../../../lib/registry/changes.ts';
import {
  type HistoryRecord,
  historyRecord,
  type NodeRecord,
  type PublisherRecord,
} from '../../../lib/registry/records.ts';
import { type AttributeMap, fromAttributes, type Item } from '../../../lib/store/items.ts';
import { historyKeysOf, type Key, nodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { get, queryAll } from '../../../lib/store/read.ts';
import { dynamodb, tableName, untilAnswered } from '../../../lib/store/dynamodb.ts';

const patienceMs = 10_000;

export function newContext(): Context {
  return { deadline: Date.now() + patienceMs };
}

/** The changes of administrators and owners to a publisher or a node, the latest first. */
export async function listHistory(key: Key): Promise<HistoryRecord[]> {
  const sides = [historyKeysOf(key, 'OWNERS'), historyKeysOf(key, 'REGISTRY')];
  const items = await Promise.all(sides.map((side) => queryAll(newContext(), side)));
  return latestFirst(items.flat().reverse().map(historyRecord));
}

/** The named record, or an error sentence if it doesn't exist, as for a node. */
export async function readPublisher(publisherId: string): Promise<PublisherRecord> {
  const [item] = await get(newContext(), publisherKey(publisherId));
  return existingPublisher(item, publisherId);
}

export async function readNode(nodeId: string): Promise<NodeRecord> {
  const [item] = await get(newContext(), nodeKey(nodeId));
  return existingNode(item, nodeId);
}

/** A command of an administrator that can't be run, with a sentence about the reason. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
}

interface Filter
  extends Pick<
    ScanCommandInput,
    'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
  > {
  /** Only these: all of the versions of a stage may have gigabytes. */
  fields?: readonly string[];
}

/** The items of the whole table with a sort key, or only some of their fields. */
export function scanFor(sk: string, filter: Filter = {}): AsyncGenerator<Item> {
  const ExpressionAttributeValues = { ':sk': { S: sk } };
  return scan({ FilterExpression: 'sk = :sk', ExpressionAttributeValues, ...filter });
}

/** The matching items of the whole table, for lookups without an index. The cost grows with the table. */
export async function* scan({ fields = [], ...filter }: Filter): AsyncGenerator<Item> {
  const names = Object.fromEntries(fields.map((field, place) => [`#p${place}`, field]));
  const projection = fields.length > 0 && {
    ProjectionExpression: Object.keys(names).join(),
    ExpressionAttributeNames: { ...filter.ExpressionAttributeNames, ...names },
  };
  let start: AttributeMap | undefined;
  do {
    const page = new ScanCommand({
      TableName: tableName(),
      ...filter,
      ...projection,
      ExclusiveStartKey: start,
    });
    const { Items = [], LastEvaluatedKey } = await untilAnswered(newContext(), 'Scan', () =>
      dynamodb.send(page),
    );
    yield* Items.map(fromAttributes);
    start = LastEvaluatedKey;
  } while (start);
}
