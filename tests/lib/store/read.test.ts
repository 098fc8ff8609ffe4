import { describe, expect, test } from '@jest/globals';
import { toAttributes } from '../../../lib/store/attribute-values.ts';
import { nodeKey } from '../../../lib/store/keys.ts';
import { get, readBatches } from '../../../lib/store/read.ts';
import { dynamodb, tableName } from '../../../lib/store/table.ts';
import { answerInTurn } from '../../support/intercept.ts';
import { fakeWaits, inSeconds, timed } from '../../support/timed.ts';

const [a, b] = [nodeKey('a'), nodeKey('b')];
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

async function readAll(keys: Parameters<typeof readBatches>[0], deadline: number) {
  const items: object[] = [];
  const unread: object[] = [];
  for await (const batch of readBatches(keys, { deadline })) {
    items.push(...batch.items);
    unread.push(...batch.unread);
  }
  return { items, unread };
}

describe('readBatches', () => {
  test('requests 100 keys at a time', async () => {
    const keys = Array.from({ length: 201 }, (_, index) => nodeKey(`node${index}`));
    const asked = answerInTurn(dynamodb, {});
    await timed(readAll(keys, inSeconds(9)));

    expect(asked).toEqual([
      request(...keys.slice(0, 100)),
      request(...keys.slice(100, 200)),
      request(...keys.slice(200)),
    ]);
  });

  test('requests keys that did not fit into an answer without a long wait', async () => {
    const asked = answerInTurn(dynamodb, { ...found(a), ...left(b) }, found(b));
    const { result, ms } = await timed(readAll([a, b], inSeconds(9)));

    expect(asked).toEqual([request(a, b), request(b)]);
    expect(result).toEqual({
      items: [
        { ...a, found: true },
        { ...b, found: true },
      ],
      unread: [],
    });
    expect(ms).toBe(20);
  });

  test('retries with doubling waits when the store answers none of the keys', async () => {
    const asked = answerInTurn(dynamodb, left(a, b), left(a, b), left(a, b), found(a, b));
    const { result, ms } = await timed(readAll([a, b], inSeconds(9)));

    expect(asked).toHaveLength(4);
    expect(result?.items).toHaveLength(2);
    expect(ms).toBe(20 + 40 + 80);
  });

  test('gives up the keys of a batch that fails three times', async () => {
    const asked = answerInTurn(dynamodb, { ...found(a), ...left(b) }, throttled);
    const { result, ms } = await timed(readAll([a, b], inSeconds(9)));

    expect(result).toEqual({ items: [{ ...a, found: true }], unread: [b] });
    expect(asked).toHaveLength(1 + 3);
    expect(ms).toBe(20 + 40 + 80);
  });

  test.each([
    [60, 3],
    [59, 2],
  ])('retries until the deadline: with %d ms left, %d times', async (remainingMs, times) => {
    const asked = answerInTurn(dynamodb, left(a));
    const { result } = await timed(readAll([a], Date.now() + remainingMs));

    expect(asked).toHaveLength(times);
    expect(result?.unread).toEqual([a]);
  });

  test('does not retry after a failure other than an overload', async () => {
    const asked = answerInTurn(dynamodb, new Error('wrong'));
    const { error } = await timed(readAll([a], inSeconds(9)));

    expect([error, asked.length]).toEqual([new Error('wrong'), 1]);
  });
});

test('get answers in the order of the keys, with undefined for a missing item', async () => {
  answerInTurn(dynamodb, found(b));
  const { result } = await timed(get(inSeconds(1), a, b));

  expect(result).toEqual([undefined, { ...b, found: true }]);
});

test('get fails when one key cannot be read', async () => {
  answerInTurn(dynamodb, { ...found(a), ...left(b) }, left(b));
  const { error } = await timed(get(inSeconds(1), a, b));

  expect(error).toMatchObject({ code: 'unavailable' });
});
