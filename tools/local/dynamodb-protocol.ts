import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';

export type Attributes = Record<string, unknown>;

/** The change that a request makes to one item, with its key among the attributes. */
export interface Action {
  table: string;
  attributes: Attributes;
}

interface Target {
  TableName: string;
  Item?: Attributes;
  Key?: Attributes;
}

type TransactItem = Record<'Put' | 'Update' | 'Delete' | 'ConditionCheck', Target | undefined>;

/**
 * A plain write or a transaction, in the order of the request, which is that of its cancellation reasons; without
 * actions if DynamoDB rejects the request itself.
 */
export function readWrite(body: Buffer): { actions: Action[]; token: string | undefined } {
  try {
    const { TransactItems, ClientRequestToken, ...plain } = JSON.parse(body.toString());
    const targets = TransactItems ? (TransactItems as TransactItem[]).map(targetOf) : [plain as Target];
    return { actions: targets.map(toAction), token: ClientRequestToken };
  } catch (error) {
    if (error instanceof TypeError || error instanceof SyntaxError) return { actions: [], token: undefined };
    throw error;
  }
}

function targetOf(item: TransactItem): Target {
  return (item.Put ?? item.Update ?? item.Delete ?? item.ConditionCheck) as Target;
}

function toAction({ TableName, Item, Key }: Target): Action {
  const attributes = Key ?? Item;
  if (typeof TableName !== 'string' || typeof attributes !== 'object' || attributes === null)
    throw new TypeError('This is not an action on one item.');
  return { table: TableName, attributes };
}

/** As DynamoDB sends its errors: the type is in the body only, and clients verify a checksum if one is sent. */
export function fail(response: ServerResponse, kind: string, content: object): void {
  const error = { __type: `com.amazonaws.dynamodb.v20120810#${kind}`, ...content };
  const body = Buffer.from(JSON.stringify(error));
  response.writeHead(400, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': body.length,
    'x-amz-crc32': String(crc32(body)),
    'x-amzn-requestid': randomUUID(),
  });
  response.end(body);
}
