import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ApiError } from '../../../lib/errors.ts';
import { toAttributes } from '../../../lib/store/attribute-values.ts';
import { nodeKey } from '../../../lib/store/keys.ts';
import {
  dynamodb,
  readBatches,
  readTogether,
  storeError,
  tableName,
  transact,
} from '../../../lib/store/table.ts';
import { SilentServer } from '../../support/silent-server.ts';

const [a, b] = [nodeKey('a'), nodeKey('b')];
const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });

/** Half of each longest wait: 20 ms, 40 ms and so on, up to 500 ms. */
beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  dynamodb.middlewareStack.remove('answers');
});

/** Answers the requests one by one in place of the store, the last answer for good. Returns what was asked. */
function answerWith(...answers: (object | Error)[]): object[] {
  const asked: object[] = [];
  dynamodb.middlewareStack.add(
    () => async (args) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)];
      asked.push(args.input);
      if (answer instanceof Error) throw answer;
      return { response: {}, output: { $metadata: {}, ...answer } };
    },
    { step: 'initialize', name: 'answers' },
  );
  return asked;
}

/** What comes of the work, and how long it takes where only its own waits take time. */
async function timed<T>(work: Promise<T>): Promise<{ result?: T; error?: unknown; ms: number }> {
  const began = Date.now();
  const ending = work.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  let isOver = false;
  void ending.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if (Date.now() - began > 60_000) throw new Error('It never ends.');
    await jest.advanceTimersToNextTimerAsync();
  }
  return { ...(await ending), ms: Date.now() - began };
}

const inSeconds = (seconds: number) => Date.now() + 1000 * seconds;
const request = (...keys: object[]) => ({
  RequestItems: { [tableName]: { Keys: keys.map((key) => toAttributes({ ...key })), ConsistentRead: true } },
});
const found = (...keys: object[]) => ({
  Responses: { [tableName]: keys.map((key) => toAttributes({ ...key, found: true })) },
});
const left = (...keys: object[]) => ({
  UnprocessedKeys: { [tableName]: { Keys: keys.map((key) => toAttributes({ ...key })) } },
});

describe('keys that are read', () => {
  test('answer in their order, and with nothing where there is no item', async () => {
    const asked = answerWith(found(b));
    const { result } = await timed(readBatches([a, b], inSeconds(9)));

    expect(asked).toEqual([request(a, b)]);
    expect(result).toEqual({ items: [undefined, { ...b, found: true }], unread: new Set() });
  });

  test('go out 100 at a time', async () => {
    const keys = Array.from({ length: 201 }, (_, index) => nodeKey(`node${index}`));
    const asked = answerWith({});
    await timed(readBatches(keys, inSeconds(9)));

    expect(asked).toEqual([
      request(...keys.slice(0, 100)),
      request(...keys.slice(100, 200)),
      request(...keys.slice(200)),
    ]);
  });

  test('are asked for again, after waits that double, where the store leaves them out', async () => {
    const asked = answerWith({ ...found(a), ...left(b) }, left(b), left(b), found(b));
    const { result, ms } = await timed(readBatches([a, b], inSeconds(9)));

    expect(asked).toEqual([request(a, b), request(b), request(b), request(b)]);
    expect(result?.items).toEqual([
      { ...a, found: true },
      { ...b, found: true },
    ]);
    expect(ms).toBe(20 + 40 + 80);
  });

  test('are given up one by one after three failures as a whole', async () => {
    const asked = answerWith({ ...found(a), ...left(b) }, throttled);
    const { result, ms } = await timed(readBatches([a, b], inSeconds(9)));

    expect(result).toEqual({ items: [{ ...a, found: true }, undefined], unread: new Set([1]) });
    expect(asked).toHaveLength(1 + 3);
    expect(ms).toBe(20 + 40 + 80);
  });

  test.each([
    [60, 3],
    [59, 2],
  ])('are asked for again up to the deadline: with %d ms left, %d times', async (remainingMs, times) => {
    const asked = answerWith(left(a));
    const { result } = await timed(readBatches([a], Date.now() + remainingMs));

    expect(asked).toHaveLength(times);
    expect(result?.unread).toEqual(new Set([0]));
  });

  test('are not asked for again after a failure that is no overload', async () => {
    const asked = answerWith(new Error('wrong'));
    const { error } = await timed(readBatches([a], inSeconds(9)));

    expect([error, asked.length]).toEqual([new Error('wrong'), 1]);
  });

  test('together are read all or not at all', async () => {
    answerWith(found(b, a), { ...found(a), ...left(b) });
    const all = await timed(readTogether(inSeconds(1), a, b));
    const some = await timed(readTogether(inSeconds(1), a, b));

    expect(all.result).toEqual([
      { ...a, found: true },
      { ...b, found: true },
    ]);
    expect(some.error).toMatchObject({ code: 'unavailable' });
  });
});

/** A transaction that the store cancelled, for one reason an item. */
function cancelled(...reasons: { Code: string; Message?: string }[]): Error {
  return new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    ...(reasons.length > 0 && { CancellationReasons: reasons }),
  });
}

describe('a transaction', () => {
  const met = cancelled({ Code: 'None' }, { Code: 'TransactionConflict' });

  test('is sent once where it goes through', async () => {
    const asked = answerWith({});

    expect(await timed(transact([{}], inSeconds(9)))).toEqual({ result: undefined, ms: 0 });
    expect(asked).toEqual([{ TransactItems: [{}] }]);
  });

  test('that meets another is sent again, up to ten times', async () => {
    const asked = answerWith(met);
    const { error, ms } = await timed(transact([], inSeconds(9)));

    expect(error).toMatchObject({ code: 'conflict', cause: met });
    expect(asked).toHaveLength(10);
    expect(ms).toBe(20 + 40 + 80 + 160 + 320 + 4 * 500);
  });

  test.each([
    [60, 3],
    [59, 2],
  ])('that meets another is sent again up to the deadline: with %d ms left, %d times', async (ms, times) => {
    const asked = answerWith(met);
    const { error } = await timed(transact([], Date.now() + ms));

    expect(error).toMatchObject({ code: 'conflict' });
    expect(asked).toHaveLength(times);
  });

  test('that meets another goes through in the end', async () => {
    const asked = answerWith(met, met, {});

    expect(await timed(transact([], inSeconds(9)))).toEqual({ result: undefined, ms: 20 + 40 });
    expect(asked).toHaveLength(3);
  });

  test('of which a condition fails answers the reasons, even where it met another', async () => {
    const reasons = [{ Code: 'TransactionConflict' }, { Code: 'ConditionalCheckFailed' }];
    answerWith(cancelled(...reasons));

    expect(await timed(transact([], inSeconds(9)))).toEqual({ result: reasons, ms: 0 });
  });

  const wrong = cancelled({ Code: 'None' }, { Code: 'ValidationError', Message: 'A key is empty.' });
  const tooLarge = cancelled(
    { Code: 'None' },
    { Code: 'ValidationError', Message: 'Item size to update has exceeded the maximum allowed size' },
  );
  const slow = cancelled({ Code: 'ThrottlingError' });
  const silent = cancelled();

  test.each([
    ['too large an item', tooLarge, { code: 'record_too_large', cause: tooLarge }],
    ['an overload', slow, { code: 'unavailable', cause: slow }],
    ['no reason', silent, { code: 'unavailable', cause: silent }],
    ['an overload that is not the transaction’s', throttled, { code: 'unavailable', cause: throttled }],
  ])('that is cancelled for %s says so', async (_, fault, expected) => {
    const asked = answerWith(fault);
    const { error } = await timed(transact([], inSeconds(9)));

    expect(error).toMatchObject(expected);
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['in one item', wrong],
    ['as a whole', new Error('wrong')],
  ])('that is wrong %s fails as it is', async (_, fault) => {
    answerWith(fault);

    expect((await timed(transact([], inSeconds(9)))).error).toBe(fault);
  });
});

describe('a failed call', () => {
  const withStatus = (httpStatusCode: number) =>
    Object.assign(new Error(), { $metadata: { httpStatusCode } });
  const withCode = (code: unknown) => Object.assign(new Error(), { code });
  const named = (name: string) => Object.assign(new Error(), { name });

  test.each([
    ['throttled by the table', named('ProvisionedThroughputExceededException')],
    ['throttled by the account', named('RequestLimitExceeded')],
    ['throttled', named('ThrottlingException')],
    ['limited', named('LimitExceededException')],
    ['failing inside', named('InternalServerError')],
    ['down', named('ServiceUnavailable')],
    ['late', named('TimeoutError')],
    ['answered with 500', withStatus(500)],
    ['answered with 503', withStatus(503)],
    ['refused a connection', withCode('ECONNREFUSED')],
  ])('is an overload where it is %s', (_, error) => {
    const read = storeError(error);

    expect(read).toBeInstanceOf(ApiError);
    expect(read).toMatchObject({ code: 'unavailable', cause: error });
  });

  test.each([
    'Item size has exceeded the maximum allowed size',
    'Item size to update has exceeded the maximum allowed size',
    'The item exceeds the maximum allowed size',
    'Too large',
  ])('is a record that does not fit: %s', (message) => {
    const error = new Error(message);

    expect(storeError(error)).toMatchObject({ code: 'record_too_large', cause: error });
  });

  test.each([
    ['another error', new Error('another')],
    ['one of the status 499', withStatus(499)],
    ['one whose code is no error of the system', withCode('E1')],
    ['one whose code is one of Node', withCode('ERR_INVALID_ARG_TYPE')],
    ['one whose code is too short', withCode('E')],
    ['one whose code ends like that of the system', withCode('SEE')],
    ['one whose code begins like that of the system', withCode('Eof')],
    ['one whose code is no text', withCode(['EPIPE'])],
    ['what is no error', { name: 'TimeoutError', message: 'too large' }],
    ['nothing', undefined],
  ])('is left as it is where it is %s', (_, error) => {
    expect(storeError(error)).toBe(error);
  });
});

describe('a store that takes a request and never answers', () => {
  const store = new SilentServer();

  afterEach(() => store.stop());

  test('is given up after five seconds, and asked three times', async () => {
    await store.listen();
    dynamodb.middlewareStack.add(
      (next) => (args) => {
        store.redirect(args.request);
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low', name: 'answers' },
    );
    const { error, ms } = await store.outwait(() => transact([], inSeconds(60)), {
      leapMs: 4900,
      mostMs: 20_000,
    });

    expect(error).toMatchObject({ code: 'unavailable' });
    expect(store.asked).toBe(3);
    expect(ms).toBeGreaterThanOrEqual(15_000);
  });
});
