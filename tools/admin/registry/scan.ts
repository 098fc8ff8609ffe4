import { ScanCommand, type ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { type AttributeMap, fromAttributes, type Item } from '../../../lib/store/items.ts';
import { untilAnswered } from '../../../lib/store/retries.ts';
import { dynamodb, tableName } from '../../../lib/store/table.ts';
import { newContext } from './administration.ts';

type Filter = Pick<
  ScanCommandInput,
  'FilterExpression' | 'ProjectionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

/** The items of the whole table with a sort key, or only some of their fields. */
export function scanFor(sk: string, filter: Filter = {}): AsyncGenerator<Item> {
  const ExpressionAttributeValues = { ':sk': { S: sk } };
  return scan({ FilterExpression: 'sk = :sk', ExpressionAttributeValues, ...filter });
}

/** The matching items of the whole table, for what has no index. It costs as much as the table is large. */
export async function* scan(filter: Filter): AsyncGenerator<Item> {
  let start: AttributeMap | undefined;
  do {
    const page = new ScanCommand({ TableName: tableName(), ...filter, ExclusiveStartKey: start });
    const { Items = [], LastEvaluatedKey } = await untilAnswered(newContext(), 'Scan', () =>
      dynamodb.send(page),
    );
    yield* Items.map(fromAttributes);
    start = LastEvaluatedKey;
  } while (start);
}
