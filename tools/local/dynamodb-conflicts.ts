import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { isObject, type JsonObject, parseObject } from '../../lib/json.ts';
import { startDynamoDb } from './dynamodb.ts';
import { rejectForeign } from './local-only.ts';
import { endToEndHeaders, type Listener, relay, type Server, startReverseProxy } from './reverse-proxy.ts';

export type Attributes = Record<string, unknown>;

interface Options {
  port?: number;
  /** Gets the key attributes of every item that a write may have changed, as the table's stream has them. */
  onWrite?: (attributes: Attributes) => void;
  /** Returns why the caller may not make a request, if so. */
  denialOf?: (request: IncomingMessage, body: Buffer) => string | undefined;
}

/** The minimum. DynamoDB's transactions take 10 to 30 ms; less keeps the tests fast. */
const transactionMs = 2;
const writes = ['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems'];
const conflictMessage = 'Transaction is ongoing for the item';
const inProgressMessage = 'The transaction with the given request token is already in progress.';

/** The embedded DynamoDB with the transaction conflicts of the real one. */
export async function startStrictDynamoDb({
  file,
  onEnd,
  ...options
}: Options & { file?: string; onEnd?: (sentence: string) => void } = {}): Promise<Server> {
  const embedded = await startDynamoDb(file, onEnd);
  const proxy = await startConflicts(embedded.url, options).catch(async (error: unknown) => {
    await embedded.stop();
    throw error;
  });
  const stop = async () => {
    await proxy.stop();
    await embedded.stop();
  };
  return { url: proxy.url, stop };
}

/**
 * Adds DynamoDB's transaction conflicts, and its rules of expressions, in front of a server that has none.
 * While a TransactWriteItems runs, its items are locked, including those that it only checks: another
 * transaction with one of them is canceled, and a plain write fails. Plain reads never conflict. Requests
 * that this service doesn't send pass unchanged: BatchWriteItem, TransactGetItems, PartiQL.
 */
export function startConflicts(url: string, { port, onWrite, denialOf }: Options = {}): Promise<Server> {
  /** The items of running transactions, by table and key, and their tokens. */
  const locked = new Set<string>();
  const report = (status: number | undefined, { parts }: Write) => {
    if (status !== 200 || !onWrite) return;
    for (const part of parts) onWrite(keyOf(part));
  };
  const transact = async (write: Write, response: ServerResponse, send: Send) => {
    const { parts, token } = write;
    // A client that lost the connection sends its transaction again while the first one still runs.
    if (locked.has(token))
      return fail(response, 'TransactionInProgressException', { Message: inProgressMessage });
    const names = parts.map(nameOf);
    const areLocked = names.map((name) => locked.has(name));
    if (areLocked.includes(true)) return cancel(response, areLocked);
    if (token !== '') names.push(token);
    for (const name of names) locked.add(name);
    // Before the response leaves: a client that knows the result must not meet the locks.
    const unlock = () => {
      for (const name of names) locked.delete(name);
    };
    const { head, content } = await commit(send).finally(unlock);
    response.writeHead(Number(head.statusCode), endToEndHeaders(head)).end(content);
    report(head.statusCode, write);
  };
  const handle: Listener = async (request, response, { body, send }) => {
    const foreign = rejectForeign(request);
    if (foreign !== undefined) return void response.writeHead(foreign).end();
    const denial = denialOf?.(request, body);
    if (denial !== undefined) return fail(response, 'AccessDeniedException', { Message: denial });
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    if (!writes.includes(operation)) return relay(await send(), response);
    const write = readWrite(parseObject(body.toString()) ?? {});
    const issue = write.parts.map(issueOf).find((each) => each !== undefined);
    if (issue !== undefined) return fail(response, 'ValidationException', { message: issue });
    if (operation === 'TransactWriteItems') return transact(write, response, send);
    if (write.parts.some((part) => locked.has(nameOf(part))))
      return fail(response, 'TransactionConflictException', { message: conflictMessage });
    const reply = await send();
    relay(reply, response);
    report(reply.statusCode, write);
  };
  return startReverseProxy(url, handle, port);
}

type Send = () => Promise<IncomingMessage>;

async function commit(send: Send): Promise<{ head: IncomingMessage; content: Buffer }> {
  await pause(transactionMs);
  const head = await send();
  return { head, content: await buffer(head) };
}

const kinds = ['UpdateExpression', 'ConditionExpression'] as const;

/** What a write does to one item. */
interface Part extends Partial<Record<(typeof kinds)[number], string>> {
  TableName: string;
  Item?: Attributes;
  Key?: Attributes;
  ExpressionAttributeNames?: Record<string, string>;
}

interface Write {
  /** In the order of the request, which is that of its cancellation reasons; none if DynamoDB rejects the request itself. */
  parts: Part[];
  token: string;
}

function readWrite({ TransactItems, ClientRequestToken = '', ...plain }: JsonObject): Write {
  const parts = Array.isArray(TransactItems) ? TransactItems.flatMap(Object.values) : [plain];
  const areRead = parts.every(
    (part) => isObject(part?.Key ?? part?.Item) && typeof part.TableName === 'string',
  );
  return { parts: areRead ? parts : [], token: String(ClientRequestToken) };
}

/** The key attributes of every item that a write names, maybe among others. */
export function keysIn(request: object): Attributes[] {
  return readWrite({ ...request }).parts.map(keyOf);
}

function keyOf({ Key, Item }: Part): Attributes {
  return Key ?? Item ?? {};
}

/** A unique text for each item. Every table of ours has these two keys. */
function nameOf(part: Part): string {
  const { pk, sk } = keyOf(part);
  return JSON.stringify([part.TableName, pk, sk]);
}

function cancel(response: ServerResponse, areLocked: readonly boolean[]): void {
  const reasons = areLocked.map((isLocked) =>
    isLocked ? { Code: 'TransactionConflict', Message: conflictMessage } : { Code: 'None' },
  );
  const codes = reasons.map(({ Code }) => Code).join(', ');
  fail(response, 'TransactionCanceledException', {
    CancellationReasons: reasons,
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
  });
}

/** As DynamoDB sends its errors: the type is in the body only, and clients verify a checksum if one is sent. */
function fail(response: ServerResponse, kind: string, content: object): void {
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

const maxBytes = 4096;

/** DynamoDB's message for a write whose expressions it rejects and the embedded server accepts. */
function issueOf({ ExpressionAttributeNames = {}, ...expressions }: Part): string | undefined {
  const long = kinds.find((kind) => Buffer.byteLength(expressions[kind] ?? '') > maxBytes);
  if (long) return `Invalid ${long}: Expression size has exceeded the maximum allowed size;`;
  const [nameless] = Object.entries(ExpressionAttributeNames).find(([, name]) => name === '') ?? [];
  return nameless && `ExpressionAttributeNames contains invalid value: Empty attribute name for ${nameless}`;
}
