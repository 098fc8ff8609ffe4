import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { type AttributeMap, fromAttributes, type Item } from '../../../lib/store/attribute-values.ts';
import type { Key } from '../../../lib/store/keys.ts';
import { dynamodb, storeError, tableName } from '../../../lib/store/table.ts';

/** A page holds up to 1 MB, so this is far more than one node or publisher can have. */
const maxPages = 1000;

/** Every item of a partition whose sort key begins as the given one does, in the order of their sort keys. */
export async function listItems({ pk, sk }: Key): Promise<Item[]> {
  const items: Item[] = [];
  let next: AttributeMap | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { Items = [], LastEvaluatedKey } = await readPage(pk, sk, next);
    items.push(...Items.map(fromAttributes));
    if (!LastEvaluatedKey) return items;
    next = LastEvaluatedKey;
  }
  throw new Error(`The listing of ${pk} does not end.`);
}

async function readPage(pk: string, prefix: string, start: AttributeMap | undefined) {
  const query = new QueryCommand({
    TableName: tableName,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': { S: pk }, ':prefix': { S: prefix } },
    ExclusiveStartKey: start,
    ConsistentRead: true,
  });
  try {
    return await dynamodb.send(query);
  } catch (error) {
    throw storeError(error);
  }
}
