import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { startConflicts } from '../../tools/local/dynamodb-conflicts.ts';
import { relay, startReverseProxy } from '../../tools/local/reverse-proxy.ts';
import { untilEnd } from '../support/serve.ts';

const TableName = String(process.env.TABLE_NAME);
const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'conflicts' } });
const Key = key('held');
const exists = { ConditionExpression: 'attribute_exists(pk)' };
/** The SDK does not retry it. */
const once = { httpStatusCode: 400, attempts: 1 };
const conflict = { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' };

/** The transaction that is to wait in front of the store. */
let waiting: { begun: PromiseWithResolvers<void>; ended: PromiseWithResolvers<void> } | undefined;

const store = await startReverseProxy(
  String(process.env.AWS_ENDPOINT_URL_DYNAMODB),
  async (request, response, { send }) => {
    const isTransaction = String(request.headers['x-amz-target']).endsWith('.TransactWriteItems');
    if (isTransaction && waiting) {
      const { begun, ended } = waiting;
      waiting = undefined;
      begun.resolve();
      await ended.promise;
    }
    relay(await send(), response);
  },
);

/** Lets the next transaction begin, and end when it is told to. */
function holdNext() {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  waiting = { begun, ended };
  return { begun: begun.promise, end: ended.resolve };
}

const proxy = untilEnd(await startConflicts(untilEnd(store).url));
const client = new DynamoDBClient({ endpoint: proxy.url });

beforeEach(async () => {
  for (const pk of ['held', 'also held', 'free'])
    await client.send(new PutItemCommand({ TableName, Item: key(pk) }));
});

afterAll(() => client.destroy());

const setting = { UpdateExpression: 'SET n = :n', ExpressionAttributeValues: { ':n': { N: '1' } } };
const touch = (pk: string): TransactWriteItem => ({ Update: { TableName, Key: key(pk), ...setting } });

const transactions: [string, TransactWriteItem][] = [
  ['updates', touch('held')],
  ['puts', { Put: { TableName, Item: key('held') } }],
  ['deletes', { Delete: { TableName, Key } }],
  ['checks', { ConditionCheck: { TableName, Key, ...exists } }],
];

function transact(...TransactItems: TransactWriteItem[]) {
  return client.send(new TransactWriteItemsCommand({ TransactItems }));
}

/** What `work` returns, or fails with, while a transaction on some items runs. */
async function during<T>(items: TransactWriteItem[], work: () => Promise<T>): Promise<T | Error> {
  const { begun, end } = holdNext();
  const running = transact(...items);
  await begun;
  const result = await work().catch((error: Error) => error);
  end();
  await running;
  await client.send(new PutItemCommand({ TableName, Item: Key }));
  return result;
}

const writes = (pk: string): Promise<unknown>[] => [
  client.send(new UpdateItemCommand({ TableName, Key: key(pk) })),
  client.send(new PutItemCommand({ TableName, Item: { ...key(pk), n: { N: '1' } } })),
  client.send(new DeleteItemCommand({ TableName, Key: key(pk) })),
];

describe('while a transaction runs', () => {
  test.each(transactions)('plain writes and others fail on an item that it %s', async (_, running) => {
    const errors = await during([touch('also held'), running], () => {
      const others = transactions.map(([, item]) => transact(touch('free'), item, touch('fresh')));
      return Promise.all([...writes('held'), ...others].map((each) => each.catch((error: Error) => error)));
    });

    const rejected = { name: 'TransactionConflictException', message: conflict.Message, $metadata: once };
    const CancellationReasons = [{ Code: 'None' }, conflict, { Code: 'None' }];
    const canceled = { name: 'TransactionCanceledException', CancellationReasons, $metadata: once };
    expect(errors).toMatchObject([...Array(3).fill(rejected), ...Array(transactions.length).fill(canceled)]);
    expect((await client.send(new GetItemCommand({ TableName, Key: key('fresh') }))).Item).toBeUndefined();
  });

  test('it succeeds by a retry of the SDK with the same token, and runs once', async () => {
    const added = { UpdateExpression: 'ADD times :one', ExpressionAttributeValues: { ':one': { N: '1' } } };
    const TransactItems = [{ Update: { TableName, Key: key('counter'), ...added } }];
    const send = () =>
      client.send(new TransactWriteItemsCommand({ TransactItems, ClientRequestToken: 'sent twice' }));
    const { begun, end } = holdNext();
    const first = send();
    await begun;
    // It ends when it meets its own retry.
    client.middlewareStack.add(
      (next) => (args) =>
        next(args).catch(async (error: unknown) => {
          end();
          await first;
          throw error;
        }),
      { step: 'deserialize', priority: 'high', name: 'endFirst' },
    );
    const second = await send();
    client.middlewareStack.remove('endFirst');
    const { Item } = await client.send(new GetItemCommand({ TableName, Key: key('counter') }));

    expect((await first).$metadata.attempts).toBe(1);
    expect(second.$metadata.attempts).toBe(2);
    expect(Item?.times).toEqual({ N: '1' });
  });
});

test('rejects an expression of more than 4 KB, and an attribute without a name, as AWS does', async () => {
  const ofBytes = (n: number) => ({ ConditionExpression: exists.ConditionExpression.padEnd(n) });
  const plain = (given: object) => client.send(new DeleteItemCommand({ TableName, Key, ...given }));
  const check = (given: typeof exists) =>
    transact({ ConditionCheck: { TableName, Key: key('free'), ...given } });
  const invalid = (part: string) => ({ name: 'ValidationException', message: expect.stringContaining(part) });
  const ExpressionAttributeNames = { '#a': '' };
  const nameless = { ConditionExpression: 'attribute_not_exists(#a)', ExpressionAttributeNames };

  await check(ofBytes(4096));
  await expect(check(ofBytes(4097))).rejects.toMatchObject(invalid('ConditionExpression'));
  await expect(plain(ofBytes(4097))).rejects.toMatchObject(invalid('ConditionExpression'));
  await expect(plain(nameless)).rejects.toMatchObject(invalid('#a'));
});
