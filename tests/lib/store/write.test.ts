import { randomUUID } from 'node:crypto';
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { type Context, requestContext } from '../../../lib/context.ts';
import { absent, Plus, present } from '../../../lib/store/items.ts';
import { type Key, nodeKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { dynamodb, untilWritten } from '../../../lib/store/dynamodb.ts';
import { checking, deleting, putting, updating, write, writeOne } from '../../../lib/store/write.ts';
import { answerInTurn, intercept } from '../../support/intercept.ts';
import { outwait, redirectCalls, startSilentServer } from '../../support/silent-server.ts';
import { fakeWaits, inSeconds, timed } from '../../support/timed.ts';

interface Letters extends Key {
  a?: number;
  b?: number;
  c?: number;
}

const key = nodeKey('a');
const unanswered = Object.assign(new Error('no answer'), { name: 'TimeoutError' });
const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });

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

const check = checking(key, absent);

/** Every write that can conflict with a transaction, and DynamoDB's answer then. */
const writes = [
  ['PutItem', conflict, (context: Context) => write(context, putting({ ...key, a: 1 }, absent))],
  ['UpdateItem', conflict, (context: Context) => write(context, updating<Letters>(key, { a: 1 }, absent))],
  ['DeleteItem', conflict, (context: Context) => write(context, deleting(key, [['pk', 'exists']]))],
  ['TransactWriteItems', canceledByConflict, (context: Context) => write(context, check)],
] as const;

describe('a write that fails', () => {
  fakeWaits();

  test.each(writes)(
    'as %s is sent again, and named if it is given up',
    async (operation, collision, write) => {
      const asked = answerInTurn(dynamodb, collision, throttled, unanswered);
      const { error } = await timed(write(inSeconds(9)));

      expect(asked).toHaveLength(2 + 4);
      const reason = `DynamoDB ${operation}: unanswered`;
      expect(error).toMatchObject({ code: 'unavailable', cause: unanswered, reason });
    },
  );

  test.each([
    [60, 3],
    [59, 2],
  ])('conflicts until the deadline: with %d ms left, %d times', async (remainingMs, times) => {
    const asked = answerInTurn(dynamodb, conflict);
    const { error } = await timed(write({ deadline: Date.now() + remainingMs }, putting(key, absent)));

    expect(error).toMatchObject({ code: 'conflict' });
    expect(asked).toHaveLength(times);
  });

  test('sends four requests without an answer at most, and not fewer after a throttle', async () => {
    const asked = answerInTurn(dynamodb, unanswered, unanswered, unanswered, throttled, unanswered);
    await timed(write(inSeconds(60), putting(key, absent)));

    expect(asked).toHaveLength(4 + 4);
  });

  test('answers that a condition failed, even after a conflict with another transaction', async () => {
    answerInTurn(dynamodb, canceled({ Code: 'TransactionConflict' }, { Code: 'ConditionalCheckFailed' }));

    expect(await timed(write(inSeconds(9), check))).toEqual({ result: false, ms: 0 });
  });

  const tooLarge = canceled({
    Code: 'ValidationError',
    Message: 'Item size to update has exceeded the maximum allowed size',
  });
  const other = canceled({ Code: 'None' }, { Code: 'ItemCollectionSizeLimitExceeded' });

  test.each([
    ['throttling', canceled({ Code: 'ThrottlingError' }), 'unavailable', 2],
    ['too large an item', tooLarge, 'record_too_large', 1],
    ['no reason', canceled(), 'unavailable', 1],
    ['another reason', other, 'unavailable', 1],
  ])('maps a cancellation for %s', async (_, cause, code, calls) => {
    const asked = answerInTurn(dynamodb, cause);
    const { error } = await timed(write({ deadline: Date.now() + 59 }, check));

    expect(error).toMatchObject({ code, cause });
    expect(asked).toHaveLength(calls);
  });

  test.each([
    ['in one item', canceled({ Code: 'None' }, { Code: 'ValidationError', Message: 'A key is empty.' })],
    ['as a whole', new Error('wrong')],
  ])('fails with the original error when the request is wrong %s', async (_, error) => {
    answerInTurn(dynamodb, error);

    expect((await timed(write(inSeconds(9), check))).error).toBe(error);
  });

  test('is decided again a hundred times, or until the deadline', async () => {
    let rounds = 0;
    const lose = async () => {
      rounds += 1;
      return undefined;
    };
    for (const [deadline, total] of [
      [inSeconds(60).deadline, 100],
      [Date.now(), 101],
    ] as const) {
      const { error } = await timed(untilWritten({ ...requestContext({}), deadline }, lose));
      expect([rounds, error]).toEqual([total, expect.objectContaining({ code: 'conflict' })]);
    }
  });

  test('is given up after eight seconds without an answer, two for each of four calls', async () => {
    const store = await startSilentServer();
    redirectCalls(dynamodb, store);
    const work = () => write(inSeconds(60), check);
    const { error, ms } = await outwait(store, work, { leapMs: 1900, maxMs: 12_000 });

    expect([store.asked, error]).toEqual([4, expect.objectContaining({ code: 'unavailable' })]);
    expect(ms).toBeGreaterThanOrEqual(8_000);
    expect(ms).toBeLessThan(11_000);
  });
});

test('rejects a misspelled attribute at compile time', () => {
  const letters: Letters = { ...key, a: 1 };
  const misspelled = [
    // @ts-expect-error
    () => write(inSeconds(1), updating<Letters>(key, { aa: 1 }, [['a', 'exists']])),
    // @ts-expect-error
    () => write(inSeconds(1), updating<Letters>(key, {}, [['aa', 'exists']])),
    // @ts-expect-error
    () => write(inSeconds(1), updating(letters, { aa: 1 }, present)),
    // @ts-expect-error: without the type of the record
    () => write(inSeconds(1), updating(key, { ...letters }, present)),
  ];

  expect(misspelled).toHaveLength(4);
});

const write_id = expect.any(String);
const unused = () => nodeKey(randomUUID());

/** A record of its own for each test, as it is stored. */
async function stored(letters: Omit<Letters, keyof Key> = {}): Promise<Letters> {
  const record = { ...unused(), ...letters };
  await write(inSeconds(9), putting(record, absent));
  return record;
}

const itemOf = async (key: Key) => (await get(inSeconds(9), key))[0];

/** The store applies the first call, and its answer is lost. */
async function withFirstAnswerLost<Result>(write: (context: Context) => Promise<Result>) {
  let calls = 0;
  const remove = intercept(dynamodb, async ({ send }) => {
    calls += 1;
    const isFirst = calls === 1;
    const answer = await send();
    if (isFirst) throw unanswered;
    return answer;
  });
  const result = await write(inSeconds(9)).catch((error: unknown) => error);
  remove();
  return { result, calls };
}

describe('a write that the store applied without an answer', () => {
  test('is recognized when it is sent again: put, update, a transaction and delete', async () => {
    const [record, key, second] = [{ ...unused(), a: 1 }, await stored({ a: 1 }), unused()];
    const lost = withFirstAnswerLost;
    const change = (context: Context) => writeOne(context, updating(key, { a: 2 }, [['a', '=', 1]]));
    const both = [putting<Letters>({ ...second, a: 3 }, absent), checking(key, present)];

    expect(await lost((context) => writeOne(context, putting(record, absent)))).toEqual({
      result: { written: true, item: { ...record, write_id } },
      calls: 2,
    });
    expect(await lost(change)).toEqual({
      result: { written: true, item: { ...key, a: 2, revision: 1, write_id } },
      calls: 2,
    });
    expect(await lost((context) => write(context, ...both))).toEqual({ result: true, calls: 2 });
    expect(await itemOf(second)).toEqual({ ...second, a: 3 });
    const deleted = await lost((context) => write(context, deleting(key, present)));
    expect(deleted).toEqual({ result: false, calls: 2 });
  });

  test('is not sent again if it is not repeatable', async () => {
    const key = await stored({ a: 1 });
    const change = (context: Context) =>
      writeOne(context, updating(key, { a: new Plus(1) }, present), { isRepeatable: false });

    expect(await withFirstAnswerLost(change)).toMatchObject({ result: { code: 'unavailable' }, calls: 1 });
    expect(await itemOf(key)).toMatchObject({ a: 2 });
  });

  test('is sent again by update, and counts once if its condition compares an attribute that it removes', async () => {
    const key = await stored({ a: 1, b: 2, c: 3 });
    const change = updating(key, { a: new Plus(1), b: null }, [
      ['c', '=', 3],
      ['b', '=', 2],
    ]);
    const { b: _, ...rest } = key;

    expect(await withFirstAnswerLost((context) => writeOne(context, change))).toEqual({
      result: { written: true, item: { ...rest, a: 2, revision: 1, write_id } },
      calls: 2,
    });
  });
});
