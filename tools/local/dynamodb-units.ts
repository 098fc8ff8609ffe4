import { type Action, type Attributes, readWrite } from './dynamodb-protocol.ts';

/** DynamoDB bills an item in units of a kilobyte, rounded up. */
const unitBytes = 1024;

type UnitKind = 'reads' | 'writes';

/** The target of a call. Without a sort key: a partition, of the table or an index. */
export interface Target {
  table: string;
  partition: string;
  sort: string | undefined;
}

interface Units {
  units: number;
  /** The part of them for an index. */
  indexUnits: number;
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

function targetOf({ table, attributes: { pk, sk } }: Action): Target {
  return { table, partition: textOf(pk), sort: textOf(sk) };
}

interface ReadRequest {
  TableName: string;
  IndexName?: string;
  Key?: Attributes;
  RequestItems?: Record<string, { Keys: Attributes[] }>;
  KeyConditionExpression?: string;
  ExpressionAttributeValues?: Attributes;
}

function readTargets(request: ReadRequest): Target[] {
  const { TableName: table, IndexName, Key, RequestItems, KeyConditionExpression = '' } = request;
  if (Key) return [targetOf({ table, attributes: Key })];
  if (RequestItems)
    return Object.entries(RequestItems).flatMap(([name, { Keys }]) =>
      Keys.map((attributes) => targetOf({ table: name, attributes })),
    );
  const [, value = ''] = / = (:\w+)/.exec(KeyConditionExpression) ?? [];
  const partition = textOf(request.ExpressionAttributeValues?.[value]);
  return [{ table, partition: IndexName ? `${IndexName}:${partition}` : partition, sort: undefined }];
}

function textOf(value: unknown): string {
  return String((value as { S?: unknown } | undefined)?.S ?? '');
}

interface Reply {
  __type?: string;
  Item?: Attributes;
  ConsumedCapacity?: Consumed | Consumed[];
}

interface Consumed {
  CapacityUnits: number;
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits: number }>;
}

/** The billed units in a reply. A failed condition is billed by its item's size, which no reply reports. */
export function consumedIn(content: Buffer): Units {
  const { __type = '', Item, ConsumedCapacity = [] }: Reply = JSON.parse(content.toString());
  if (__type.endsWith('#ConditionalCheckFailedException'))
    return { units: unitsOf(Item ?? {}), indexUnits: 0 };
  const tables = [ConsumedCapacity].flat();
  const ofIndexes = tables.flatMap(({ GlobalSecondaryIndexes = {} }) =>
    Object.values(GlobalSecondaryIndexes),
  );
  return { units: sumOf(tables), indexUnits: sumOf(ofIndexes) };
}

function sumOf(all: readonly { CapacityUnits: number }[]): number {
  return all.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
}

/** The units of a write of an item: at least one. */
function unitsOf(attributes: Attributes): number {
  return Math.max(1, Math.ceil(sizeOf(attributes) / unitBytes));
}

/** The size that DynamoDB documents: text and names in UTF-8, numbers by digits, 3 bytes a list or map. */
function sizeOf(attributes: Attributes): number {
  return Object.entries(attributes).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOfValue(value as Attributes),
    0,
  );
}

function sizeOfValue({ S, N, B, BOOL, L, M }: Attributes): number {
  if (typeof S === 'string') return Buffer.byteLength(S);
  if (typeof N === 'string') return Math.ceil(N.replace(/[-.]/g, '').length / 2) + 1;
  if (typeof B === 'string') return Buffer.from(B, 'base64').length;
  if (BOOL !== undefined) return 1;
  if (Array.isArray(L)) return 3 + L.reduce((sum, value) => sum + 1 + sizeOfValue(value), 0);
  return 3 + Object.keys(M ?? {}).length + sizeOf((M ?? {}) as Attributes);
}
