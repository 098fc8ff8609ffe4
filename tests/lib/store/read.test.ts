import { describe, expect, test } from '@jest/globals';
import { type Context, requestContext } from '../../../lib/context.ts';
import { fromAttributes, toAttributes } from '../../../lib/store/items.ts';
import { nodeKey, nodeVersionKey } from '../../../lib/store/keys.ts';
import { get, query, readAll } from '../../../lib/store/read.ts';
import { dynamodb, tableName } from '../../../lib/store/dynamodb.ts';
import { stopTimers } from '@node-registry/testing/clock';
import { serve } from '../../support/serve.ts';
import { answerInTurn } from '../../support/intercept.ts';
import { redirectCalls } from '../../support/silent-server.ts';
import { fakeWaits, inSeconds, timed } from '../../support/timed.ts';

const [a, b] = [nodeKey('a'), nodeKey('b')];
const unanswered = Object.assign(new Error('no answer'), { name: 'TimeoutError' });
const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });

fakeWaits();
const request = (...keys: object[]) => ({
  RequestItems: {
    [tableName()]: { Keys: keys.map((key) => toAttributes({ ...key })), ConsistentRead: true },
  },
});
const found = (...keys: object[]) => ({
  Responses: { [tableName()]: keys.map((key) => toAttributes({ ...key, found: true })) },
});
const left = (...keys: object[]) => ({
  UnprocessedKeys: { [tableName()]: { Keys: keys.map((key) => toAttributes({ ...key })) } },
});

/** In one batch, which names each key once. */
async function readBoth(context: Context) {
  const unread: object[] = [];
  const items = await readAll(context, [a, b, a], { onUnread: (keys) => unread.push(...keys) });
  return { items, unread };
}

describe('readAll', () => {
  test('requests keys that did not fit into an answer of 1 MB again at once', async () => {
    const page = { ...found({ ...a, text: 'x'.repeat(1_000_000) }), ...left(b) };
    const answers = [page, { ...page, ...left() }];
    const server = await serve((_, response) => response.end(JSON.stringify(answers.shift())));
    stopTimers();
    redirectCalls(dynamodb, server);
    const { items, unread } = await readBoth(requestContext({}));

    expect([items.length, unread, answers]).toEqual([2, [], []]);
  });

  test.each([
    ['a request', 20 + 40 + 80 + 160 + 320 + 500 + 500, () => requestContext({})],
    ['an event', 9000, () => inSeconds(9)],
  ])('repeats throttled keys with doubling waits as long as %s may', async (_, maxMs, context) => {
    const asked = answerInTurn(dynamodb, { ...found(a), ...left(b) }, left(b), throttled, left(b));
    const { result, ms } = await timed(readBoth(context()));

    expect(asked.slice(0, 2)).toEqual([request(a, b), request(b)]);
    expect(result).toEqual({ items: [{ ...a, found: true }], unread: [b] });
    expect(ms).toBeLessThanOrEqual(maxMs);
    expect(ms).toBeGreaterThan(maxMs - 520);
  });
});

test.each([
  ['one key was not read', [{ ...found(a), ...left(b) }, left(b)], 'throttled'],
  ['the call was not answered', [unanswered], 'unanswered'],
])('get fails as a whole if %s, and names the call', async (_, answers, failure) => {
  answerInTurn(dynamodb, ...answers);
  const { error } = await timed(get(inSeconds(1), a, b));

  expect(error).toMatchObject({ code: 'unavailable', reason: `DynamoDB BatchGetItem: ${failure}` });
});

test('query reads page after page, and waits for a store that throttles', async () => {
  const range = { below: nodeVersionKey('a', '') };
  const [first, second] = [toAttributes({ ...a }), toAttributes({ ...b })];
  const asked = answerInTurn(
    dynamodb,
    throttled,
    { Items: [first], LastEvaluatedKey: first },
    { Items: [second] },
  );
  const { result } = await timed(Array.fromAsync(query(inSeconds(9), range)));

  expect(result).toEqual([[a], [b]]);
  expect(asked).toEqual([
    expect.objectContaining({ ConsistentRead: true, ScanIndexForward: true }),
    expect.not.objectContaining({ ExclusiveStartKey: expect.anything() }),
    expect.objectContaining({ ExclusiveStartKey: first }),
  ]);
});

const item = {
  text: 'a',
  none: '',
  number: 1.5,
  zero: 0,
  yes: true,
  no: false,
  bytes: new Uint8Array([1, 2]),
  list: ['a', 1, [], {}],
  map: { list: [false], deep: { bytes: new Uint8Array() } },
};

test('reads an item as it was stored, without values that were undefined', () => {
  expect(fromAttributes(toAttributes({ ...item, absent: undefined }))).toStrictEqual(item);
});

test('rejects storing null', () => {
  expect(() => toAttributes({ value: null })).toThrow('A value of type object cannot be stored.');
});
