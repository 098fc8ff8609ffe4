import { hash } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { type AttemptEnd, endAttempt, recordSent } from '../../../lib/attempts/attempt.ts';
import type { Answer } from '../../../lib/answer.ts';
import { claim, free, keepAnswer, slotOf } from '../../../lib/attempts/slot.ts';
import { ApiError } from '../../../lib/errors.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { beforeNext, intercept } from '../../support/intercept.ts';
import { idempotencyKey } from '../../../lib/store/keys.ts';
import { soon, storedItem } from '../../support/registry.ts';
import { attemptOf } from '../../support/spending.ts';

const done: Answer = {
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"done":true}',
};
const replayed = { 'idempotent-replayed': 'true' };
const dayMs = 24 * 60 * 60 * 1000;
const caller = 'user:olga';

interface Request {
  request?: string;
  remainingMs?: number;
  /** Undefined for a request that dies after it was sent. */
  payment?: AttemptEnd['payment'] | undefined;
  answer?: Answer | undefined;
  beforeRecord?: () => Promise<unknown>;
}

let sends = 0;

/** One request with a key, in the order of a paid one. */
async function send(key: string, given: Request = {}): Promise<Answer> {
  const { request = 'same', remainingMs = 10_000, beforeRecord, answer = done } = given;
  const payment = 'payment' in given ? given.payment : 'taken';
  const context = { deadline: Date.now() + remainingMs };
  const attempt = { ...attemptOf('olga'), status_key: 'status/a.json' };
  const slot = slotOf(context, { key, scope: caller, request }, attempt.sk, caller);
  const kept = await claim(slot);
  if (kept) return kept;
  await beforeRecord?.();
  // Everything may take long.
  const writing = soon();
  if (!(await recordSent(writing, attempt))) throw new ApiError('unavailable');
  sends += 1;
  if (payment) await endAttempt(writing, attempt, { payment, credits: 0 });
  if (payment !== 'taken') throw new ApiError('provider_failed');
  await keepAnswer({ ...slot, context: writing }, answer);
  return answer;
}

function outcome(promise: Promise<Answer>): Promise<string | number> {
  return promise.then(
    ({ statusCode }) => statusCode,
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );
}

afterEach(() => {
  sends = 0;
});

describe('an idempotency key', () => {
  test('replays an answer of many parts, and remembers it for 24 hours', async () => {
    stopDate();
    const body = JSON.stringify({ payload: noise(200_000) });
    await send('old', { answer: { ...done, body } });
    const stored = await storedItem(idempotencyKey(hash('sha256', `${caller}\nold`)));
    expect(stored?.parts).toBeGreaterThan(3);
    stopDate(Date.now() + dayMs - 1);
    expect(await send('old')).toMatchObject({ body, headers: replayed });
    stopDate(Date.now() + 1);

    expect(await outcome(send('old', { request: 'another' }))).toBe(200);
    expect(sends).toBe(2);
  });

  test.each<[string, AttemptEnd['payment'] | undefined, string | number, string | number]>([
    ['whose attempt was rejected', 'rejected', 200, 200],
    ['whose outcome is unknown', 'unknown', 'idempotency_consumed', 'idempotency_consumed'],
    ['whose request died after sending', undefined, 'idempotency_in_flight', 'idempotency_consumed'],
  ])('%s answers a repeat by its attempt, within and after its lease', async (_, payment, soon, later) => {
    stopDate();
    for (const [key, wait, expected] of [
      [`${payment}-soon`, 0, soon],
      [`${payment}-later`, 15_000, later],
    ] as const) {
      await outcome(send(key, { payment }));
      stopDate(Date.now() + wait);
      const again = send(key);

      expect(await outcome(again)).toBe(expected);
      if (expected !== 200)
        await expect(again).rejects.toMatchObject({
          headers: { link: expect.stringMatching(/status\/a.json>; rel="status"$/) },
        });
    }
  });

  test('keeps an answer that lost a part from being replayed', async () => {
    stopDate();
    const stop = intercept(dynamodb, async ({ input, send: pass }) => {
      if (String(Object(input.Item).sk?.S).startsWith('PART#')) throw new Error('The store is down.');
      return pass();
    });
    await expect(send('part', { answer: { ...done, body: noise(80_000) } })).rejects.toThrow('down');
    stop();

    expect(await outcome(send('part'))).toBe('idempotency_in_flight');
    stopDate(Date.now() + 60_000);
    expect(await outcome(send('part'))).toBe('idempotency_consumed');
    expect(sends).toBe(1);
  });

  test('rejects another request, while the first one runs and later, unless it was rejected', async () => {
    const other = () => outcome(send('mismatch', { request: 'other' }));
    let meanwhile: string | number = '';
    await send('mismatch', {
      beforeRecord: async () => {
        meanwhile = await other();
      },
    });
    expect([meanwhile, await other(), sends]).toEqual(['idempotency_mismatch', 'idempotency_mismatch', 1]);
    await outcome(send('released', { payment: 'rejected' }));

    expect(await outcome(send('released', { request: 'other' }))).toBe(200);
  });

  test('is taken over from a request without a record once its lease is over, which then cannot be sent', async () => {
    stopDate();
    const taken: (string | number)[] = [];
    const slow = send('slow', {
      beforeRecord: async () => {
        stopDate(Date.now() + 14_999);
        taken.push(await outcome(send('slow')));
        stopDate(Date.now() + 1);
        taken.push(await outcome(send('slow')));
      },
    });

    expect(await outcome(slow)).toBe('unavailable');
    expect([taken, sends]).toEqual([['idempotency_in_flight', 200], 1]);
    expect((await send('slow')).headers).toMatchObject(replayed);
  });

  test.each([
    ['response', 'taken'],
    ['attempt', undefined],
  ] as const)('is taken over by one of two requests, if the faster one has its %s', async (key, payment) => {
    await outcome(send(key, { payment: 'rejected' }));
    beforeNext(dynamodb, /Get/, () => outcome(send(key, { payment })));

    expect(await outcome(send(key))).toBe('idempotency_in_flight');
    expect(sends).toBe(2);
  });

  test.each([
    ['record', caller],
    ['response', undefined],
  ])('stays with a slow request whose %s comes right before it would be taken over', async (key, payer) => {
    stopDate();
    const slotFor = (attempt: string) =>
      slotOf(
        { deadline: Date.now() + 10_000 },
        { key: `late-${key}`, scope: caller, request: 'same' },
        attempt,
        payer,
      );
    const slow = attemptOf('olga');
    const slot = slotFor(slow.sk);
    await claim(slot);
    stopDate(Date.now() + 15_000);
    let puts = 0;
    intercept(dynamodb, async ({ command, send: pass }) => {
      puts += Number(command === 'PutItemCommand');
      // The first one has found what holds the key.
      if (puts === 2) {
        puts += 1;
        await (payer ? recordSent(soon(), slow) : keepAnswer({ ...slot, context: soon() }, done));
      }
      return pass();
    });

    await expect(claim(slotFor(attemptOf('olga').sk))).rejects.toMatchObject({
      code: 'idempotency_in_flight',
    });
  });

  test('is free at once if its request ends before anything was sent, and stays with another that has it', async () => {
    stopDate();
    const context = { ...soon(), retries: { repeats: 0, ms: 0 } };
    const slotFor = (attempt: string) =>
      slotOf(context, { key: 'early', scope: caller, request: 'same' }, attempt);
    // Its request has used up its repeats.
    const throttled = Object.assign(new Error(), { name: 'ThrottlingException' });
    beforeNext(dynamodb, /^DeleteItemCommand$/, () => Promise.reject(throttled), 4);
    await claim(slotFor('2026-11-28T12:00:00.000Z#early-01'));
    await free(slotFor('2026-11-28T12:00:00.000Z#early-01'));
    await send('early');
    await free(slotFor('2026-11-28T12:00:00.000Z#early-01'));
    await expect(keepAnswer(slotFor('2026-11-28T12:00:00.000Z#early-01'), done)).rejects.toThrow(
      'another request',
    );

    expect((await send('early')).headers).toMatchObject(replayed);
  });

  test('answers unavailable when the store does not say who holds it', async () => {
    intercept(dynamodb, () =>
      Promise.reject(new ConditionalCheckFailedException({ message: 'held', $metadata: {} })),
    );

    expect(await outcome(send('unsaid'))).toBe('unavailable');
    expect(sends).toBe(0);
  });

  test('has 1 to 255 visible characters', async () => {
    const message = 'must be 1 to 255 visible ASCII characters';
    for (const key of ['', 'a b', 'schlüssel', 'x'.repeat(256), 'tab\t'])
      await expect(send(key)).rejects.toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'headers.idempotency-key', message }],
      });
    expect(sends).toBe(0);
  });
});

/** Text that hardly compresses. */
function noise(words: number): string {
  return Array.from({ length: words }, () => Math.random().toString(36)).join('');
}
