export type Attributes = Record<string, unknown>;

/** The change that a request makes to one item, with its key among the attributes. */
export interface Action {
  table: string;
  attributes: Attributes;
}

interface BatchEntry extends Action {
  /** As the request has it, and as `UnprocessedItems` returns it. */
  entry: object;
}

interface Target {
  TableName: string;
  Item?: Attributes;
  Key?: Attributes;
}

type TransactItem = Record<'Put' | 'Update' | 'Delete' | 'ConditionCheck' | 'Get', Target | undefined>;

interface BatchRequest {
  PutRequest?: { Item: Attributes };
  DeleteRequest?: { Key: Attributes };
}

interface WriteRequest {
  /** In the order of the request, which is the order of its cancellation reasons. */
  actions: Action[];
  token: string | undefined;
}

/** A plain write or a transaction; without actions where the request is one that DynamoDB rejects by itself. */
export function readWrite(body: Buffer): WriteRequest {
  const read = () => {
    const { TransactItems, ClientRequestToken, ...plain } = JSON.parse(body.toString());
    const targets = TransactItems ? (TransactItems as TransactItem[]).map(targetOf) : [plain as Target];
    return { actions: targets.map(toAction), token: ClientRequestToken };
  };
  return readOr({ actions: [], token: undefined }, read);
}

/** The entries of a BatchWriteItem in all its tables; an empty list if the request is malformed. */
export function readBatch(body: Buffer): BatchEntry[] {
  return readOr([], () => batchEntries(JSON.parse(body.toString()).RequestItems));
}

export function batchEntries(tables: Record<string, BatchRequest[]>): BatchEntry[] {
  return Object.entries(tables).flatMap(([TableName, entries]) =>
    entries.map((entry) => ({
      entry,
      ...toAction({ TableName, ...entry.PutRequest, ...entry.DeleteRequest }),
    })),
  );
}

/** The reverse: entries as a request sends them, and as an answer returns them unprocessed. */
export function byTable(entries: readonly BatchEntry[]): Record<string, object[]> {
  const tables = Map.groupBy(entries, ({ table }) => table);
  return Object.fromEntries([...tables].map(([table, own]) => [table, own.map(({ entry }) => entry)]));
}

function targetOf(item: TransactItem): Target {
  return (item.Put ?? item.Update ?? item.Delete ?? item.ConditionCheck ?? item.Get) as Target;
}

function toAction({ TableName, Item, Key }: Target): Action {
  const attributes = Key ?? Item;
  if (typeof TableName !== 'string' || typeof attributes !== 'object' || attributes === null)
    throw new TypeError('This is not an action on one item.');
  return { table: TableName, attributes };
}

function readOr<T>(malformed: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError || error instanceof SyntaxError) return malformed;
    throw error;
  }
}
