import { type Action, type Attributes, readWrite } from './dynamodb-protocol.ts';

type UnitKind = 'reads' | 'writes';

/** What a call is about: a partition, of the table or an index. */
export interface Target {
  table: string;
  partition: string;
}

const readOperations = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);
const writeOperations = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

/** Undefined for operations that cost no units. */
export function kindOf(operation: string): UnitKind | undefined {
  if (readOperations.has(operation)) return 'reads';
  return writeOperations.has(operation) ? 'writes' : undefined;
}

export function targetsOf(operation: string, body: Buffer): Target[] {
  if (kindOf(operation) === 'reads') return readTargets(JSON.parse(body.toString()));
  return readWrite(body).actions.map(targetOf);
}

function targetOf({ table, attributes: { pk } }: Action): Target {
  return { table, partition: textOf(pk) };
}

interface ReadRequest {
  TableName: string;
  Key?: Attributes;
  RequestItems?: Record<string, { Keys: Attributes[] }>;
  KeyConditionExpression?: string;
  ExpressionAttributeValues?: Attributes;
}

function readTargets(request: ReadRequest): Target[] {
  const { TableName: table, Key, RequestItems, KeyConditionExpression = '' } = request;
  if (Key) return [targetOf({ table, attributes: Key })];
  if (RequestItems)
    return Object.entries(RequestItems).flatMap(([name, { Keys }]) =>
      Keys.map((attributes) => targetOf({ table: name, attributes })),
    );
  const [, value = ''] = / = (:\w+)/.exec(KeyConditionExpression) ?? [];
  return [{ table, partition: textOf(request.ExpressionAttributeValues?.[value]) }];
}

function textOf(value: unknown): string {
  return String((value as { S?: unknown } | undefined)?.S ?? '');
}
