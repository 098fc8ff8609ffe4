import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Context } from '../../../lib/context.ts';
import { absent, Plus, present } from '../../../lib/store/items.ts';
import { type Key, nodeKey } from '../../../lib/store/keys.ts';
import { untilWritten } from '../../../lib/store/retries.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { checking, put, remove, transact, update, updating, updateOnce } from '../../../lib/store/write.ts';
import { answerInTurn } from '../../support/intercept.ts';
import { SilentServer } from '../../support/silent-server.ts';
import { fakeWaits, inSeconds, timed } from '../../support/timed.ts';

interface Letters extends Key {
  a: number;
}

const key = nodeKey('a');
const unanswered = Object.assign(new Error('no answer'), { name: 'TimeoutError' });
const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });

fakeWaits();

/** A transaction that the store canceled, with one reason for each item. */
function canceled(...reasons: { Code: string; Message?: string }[]): Error {
  return new TransactionCanceledException({
    message: 'canceled',
    $metadata: {},
    ...(reasons.length > 0 && { CancellationReasons: reasons }),
  });
}

const conflict = new TransactionConflictException({ message: 'met a transaction', $metadata: {} });
const canceledByConflict = canceled({ Code: 'None' }, { Code: 'TransactionConflict' });

/** Every write that can conflict with a transaction, and DynamoDB's answer then. */
const writes = [
  ['put', conflict, (context: Context) => put(context, { ...key, a: 1 }, absent)],
  ['update', conflict, (context: Context) => update<Letters>(context, key, { a: 1 }, absent)],
  ['remove', conflict, (context: Context) => remove(context, key, [['pk', 'exists']])],
  ['transact', canceledByConflict, (context: Context) => transact(context, [checking(key, absent)])],
] as const;
const operations = {
  put: 'PutItem',
  update: 'UpdateItem',
  remove: 'DeleteItem',
  transact: 'TransactWriteItems',
};

describe.each(writes)('%s in conflict with a transaction', (_, collision, write) => {
  test('retries until it succeeds', async () => {
    const asked = answerInTurn(dynamodb, collision, collision, {});
    const { error, ms } = await timed<unknown>(write(inSeconds(9)));

    expect(error).toBeUndefined();
    expect(asked).toHaveLength(3);
    expect(ms).toBe(20 + 40);
  });

  test.each([
    [60, 3],
    [59, 2],
  ])('retries until the deadline: with %d ms left, %d times', async (remainingMs, times) => {
    const asked = answerInTurn(dynamodb, collision);
    const { error } = await timed<unknown>(write({ deadline: Date.now() + remainingMs }));

    expect(error).toMatchObject({ code: 'conflict' });
    expect(asked).toHaveLength(times);
  });
});

describe.each(writes)('%s to a store that throttles', (_, __, write) => {
  test('retries until it succeeds', async () => {
    const asked = answerInTurn(dynamodb, ...Array(8).fill(throttled), {});
    const { error, ms } = await timed<unknown>(write(inSeconds(9)));

    expect(error).toBeUndefined();
    expect(asked).toHaveLength(9);
    expect(ms).toBe(20 + 40 + 80 + 160 + 320 + 500 + 500 + 500);
  });
});

describe.each(writes)('%s without an answer', (name, _, write) => {
  test('sends four requests at most, and not fewer after a throttle', async () => {
    const asked = answerInTurn(dynamodb, unanswered, unanswered, unanswered, throttled, unanswered);
    const { error } = await timed<unknown>(write(inSeconds(60)));

    const reason = `DynamoDB ${operations[name]}: unanswered`;
    expect(error).toMatchObject({ code: 'unavailable', cause: unanswered, reason });
    expect(asked).toHaveLength(4 + 4);
  });
});

describe('an addition', () => {
  const add = () => updateOnce<Letters>(inSeconds(9), key, { a: new Plus(1) }, present);

  test.each([
    ['throttled', throttled],
    ['in conflict', conflict],
  ])('goes out again when it was %s', async (_, error) => {
    const asked = answerInTurn(dynamodb, error, {});
    await timed(add());

    expect(asked).toHaveLength(2);
  });
});

describe('transact', () => {
  test('answers the indexes of the conditions that failed, even after a conflict with another transaction', async () => {
    answerInTurn(dynamodb, canceled({ Code: 'TransactionConflict' }, { Code: 'ConditionalCheckFailed' }));

    expect(await timed(transact(inSeconds(9), []))).toEqual({ result: [1], ms: 0 });
  });

  test.each(['ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'retries until the deadline when it was canceled for %s, and then answers unavailable',
    async (Code) => {
      const cause = canceled({ Code });
      const asked = answerInTurn(dynamodb, cause);
      const { error } = await timed(transact({ deadline: Date.now() + 59 }, []));

      expect(error).toMatchObject({ code: 'unavailable', cause });
      expect(asked).toHaveLength(2);
    },
  );

  const wrong = canceled({ Code: 'None' }, { Code: 'ValidationError', Message: 'A key is empty.' });
  const tooLarge = canceled({
    Code: 'ValidationError',
    Message: 'Item size to update has exceeded the maximum allowed size',
  });
  const silent = canceled();
  const other = canceled({ Code: 'None' }, { Code: 'ItemCollectionSizeLimitExceeded' });

  test.each([
    ['too large an item', tooLarge, { code: 'record_too_large', cause: tooLarge }],
    ['no reason', silent, { code: 'unavailable', cause: silent }],
    ['another reason', other, { code: 'unavailable', cause: other }],
  ])('maps a cancellation for %s', async (_, cancellation, expected) => {
    const asked = answerInTurn(dynamodb, cancellation);
    const { error } = await timed(transact(inSeconds(9), []));

    expect(error).toMatchObject(expected);
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['in one item', wrong],
    ['as a whole', new Error('wrong')],
  ])('fails with the original error when the request is wrong %s', async (_, error) => {
    answerInTurn(dynamodb, error);

    expect((await timed(transact(inSeconds(9), []))).error).toBe(error);
  });
});

test('rejects a misspelled attribute at compile time', () => {
  const misspelled = [
    // @ts-expect-error
    () => update<Letters>(inSeconds(1), key, { aa: 1 }, present),
    // @ts-expect-error
    () => update<Letters>(inSeconds(1), key, { a: 'text' }, present),
    // @ts-expect-error
    () => update<Letters>(inSeconds(1), key, {}, [['aa', 'exists']]),
    // @ts-expect-error
    () => update<Letters>(inSeconds(1), key, {}, [['a', '=', 'text']]),
    // @ts-expect-error: without the type of the record
    () => update(inSeconds(1), key, { a: 1 }, present),
    // @ts-expect-error
    () => updating<Letters>(key, { aa: 1 }, present),
    // @ts-expect-error
    () => checking<Letters>(key, [['aa', 'absent']]),
    // @ts-expect-error
    () => put({ ...key, a: 1 }, [['aa', 'exists']]),
  ];

  expect(misspelled).toHaveLength(8);
});

describe('untilWritten', () => {
  test('gives up with conflict after a hundred rounds, or at the deadline', async () => {
    let rounds = 0;
    const lose = async () => {
      rounds += 1;
      return undefined;
    };
    expect((await timed(untilWritten(inSeconds(60), lose))).error).toMatchObject({ code: 'conflict' });
    expect(rounds).toBe(100);

    expect((await timed(untilWritten({ deadline: Date.now() }, lose))).error).toMatchObject({
      code: 'conflict',
    });
    expect(rounds).toBe(101);
  });
});

describe('a store that accepts a request and never answers', () => {
  const store = new SilentServer();

  afterEach(() => store.stop());

  test('fails after eight seconds, two for each of four calls', async () => {
    await store.listen();
    const answerAgain = store.redirectCalls(dynamodb);
    const { error, ms } = await store.outwait(() => transact(inSeconds(60), []), {
      leapMs: 1900,
      maxMs: 12_000,
    });
    answerAgain();

    expect(error).toMatchObject({ code: 'unavailable' });
    expect(store.asked).toBe(4);
    expect(ms).toBeGreaterThanOrEqual(8_000);
    expect(ms).toBeLessThan(11_000);
  });
});
