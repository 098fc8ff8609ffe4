import { hash, randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { ApiError } from '../../../lib/errors.ts';
import { IdempotencyKey } from '../../../lib/requests/idempotency-key.ts';
import { afterwards, type Answer, apiErrorOf, beforeSending } from '../../../lib/requests/attempt.ts';
import type { BoughtTask } from '../../../lib/providers/provider-call.ts';
import { type AttributeMap, fromAttributes, type Item } from '../../../lib/store/items.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { stopDate } from '@node-registry/testing/clock';
import { intercept } from '../../support/intercept.ts';
import { storedItem } from '../../support/registry.ts';
import '../../support/patience.ts';

const done: Answer = {
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"done":true}',
};

interface Attempt {
  key: string;
  request?: string;
  remainingMs?: number;
  work?: () => Promise<Answer>;
  beforeWork?: () => Promise<void>;
  task?: BoughtTask;
}

/** The header of an answer that was given before. */
const replayed = { 'idempotent-replayed': 'true' };

const dayMs = 24 * 60 * 60 * 1000;

let sends = 0;

const olgas = { scope: 'user:olga', request: 'same' };

/** One keyed request, run as by the boundary. */
async function attempt({ key, remainingMs = 10_000, work, beforeWork, task, ...other }: Attempt) {
  const context = { deadline: Date.now() + remainingMs };
  const held = new IdempotencyKey({ key, ...olgas, ...other }, { attempt: randomUUID(), context });
  try {
    const kept = await beforeSending(async () => {
      const found = await held.acquire();
      if (!found) await beforeWork?.();
      if (!found) await held.markSent({});
      return found;
    });
    if (kept) return kept;
    sends += 1;
    const answer = work ? await work() : done;
    await afterwards(context, 'succeed', { idempotency: held.keep(answer, task) });
    return answer;
  } catch (thrown) {
    const error = apiErrorOf(thrown);
    await afterwards(context, 'fail', { idempotency: held.release(error) });
    throw error;
  }
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
  test('replays an answer of many parts', async () => {
    const body = JSON.stringify({ payload: noise(200_000) });
    await attempt({ key: 'many-parts', work: async () => ({ ...done, body }) });
    const stored = await storedItem(`IDEMPOTENCY#${hash('sha256', 'user:olga\nmany-parts')}`, 'ANSWER');

    expect(stored?.parts).toBeGreaterThan(3);
    expect((await attempt({ key: 'many-parts' })).body).toBe(body);
  });

  test('stores its attempt, that it was sent, the parts and the answer with its task, each for 24 hours', async () => {
    stopDate();
    const puts: Item[] = [];
    intercept(dynamodb, async ({ input, send }) => {
      const { Item } = input as { Item: AttributeMap };
      puts.push(fromAttributes(Item));
      return send();
    });
    const task = { taskId: 'task-1', credits: 20 };
    await attempt({ key: 'parts', work: async () => ({ ...done, body: noise(80_000) }), task });

    const pk = `IDEMPOTENCY#${hash('sha256', 'user:olga\nparts')}`;
    const [{ attempt: name } = {}] = puts;
    const kept = { ttl: Math.ceil((Date.now() + dayMs) / 1000), write_id: expect.any(String) };
    const times = { lease_until: Date.now() + 15_000, expires_at: Date.now() + dayMs };
    const held = { pk, sk: 'ANSWER', attempt: name, fingerprint: hash('sha256', 'same'), ...times, ...kept };
    const bytes = expect.any(Uint8Array);
    expect(puts).toEqual([
      { ...held, state: 'running' },
      { ...held, state: 'sent', task_headers: {} },
      { pk, sk: `PART#${name}#1`, bytes, ...kept },
      { ...held, state: 'answered', bytes, parts: 2, task_id: 'task-1', credits: 20 },
    ]);
  });

  test('never replays a response that lost a part', async () => {
    const fail = intercept(dynamodb, async ({ input, send }) => {
      const { Item } = input as { Item: AttributeMap };
      if (String(fromAttributes(Item).sk).startsWith('PART#')) throw new Error('The store is down.');
      return send();
    });
    const body = JSON.stringify({ payload: noise(80_000) });
    const first = await attempt({ key: 'part-lost', work: async () => ({ ...done, body }) });
    fail();

    expect(first.body).toBe(body);
    expect(await outcome(attempt({ key: 'part-lost' }))).toBe('idempotency_in_flight');
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    expect(await outcome(attempt({ key: 'part-lost' }))).toBe('idempotency_consumed');
    expect(sends).toBe(1);
  });

  test('answers unavailable when the store does not say who holds the key', async () => {
    intercept(dynamodb, () =>
      Promise.reject(new ConditionalCheckFailedException({ message: 'held', $metadata: {} })),
    );

    expect(await outcome(attempt({ key: 'unsaid' }))).toBe('unavailable');
    expect(sends).toBe(0);
  });

  test('rejects another request with the same key, even while the first one runs', async () => {
    const { work: blocked, entered, leave } = gate();
    const running = attempt({ key: 'mismatch', beforeWork: blocked });
    await entered;

    expect(await outcome(attempt({ key: 'mismatch', request: 'other' }))).toBe('idempotency_mismatch');
    leave();
    await running;
    expect(await outcome(attempt({ key: 'mismatch', request: 'other' }))).toBe('idempotency_mismatch');
    expect(sends).toBe(1);
  });

  test('counts a request as running until five seconds past its deadline, and its key is free then', async () => {
    stopDate();
    const { work: dies, entered } = gate();
    attempt({ key: 'died-early', remainingMs: 0, beforeWork: dies }).catch(() => {});
    await entered;

    stopDate(Date.now() + 4999);
    expect(await outcome(attempt({ key: 'died-early' }))).toBe('idempotency_in_flight');
    stopDate(Date.now() + 1);
    expect(await outcome(attempt({ key: 'died-early' }))).toBe(200);
    expect(sends).toBe(1);
  });

  test('does not let an invocation send after its key was taken over', async () => {
    const { work: sleeps, entered, leave } = gate();
    const slow = outcome(attempt({ key: 'woken', remainingMs: -6000, beforeWork: sleeps }));
    await entered;
    await attempt({ key: 'woken' });
    leave();

    expect(await slow).toBe('idempotency_in_flight');
    expect(sends).toBe(1);
    expect((await attempt({ key: 'woken' })).headers).toMatchObject(replayed);
  });

  test('remembers a key for 24 hours and then forgets it, even if the store has not deleted it', async () => {
    stopDate();
    await attempt({ key: 'old' });
    stopDate(Date.now() + dayMs - 1);
    expect((await attempt({ key: 'old' })).headers).toMatchObject(replayed);
    stopDate(Date.now() + 1);

    expect(await outcome(attempt({ key: 'old', request: 'another' }))).toBe(200);
    expect(sends).toBe(2);
  });

  test('takes 1 to 255 visible characters as a key', async () => {
    const message = 'must be 1 to 255 visible ASCII characters';
    for (const key of ['', 'a b', 'schlüssel', 'x'.repeat(256), 'tab\t'])
      await expect(attempt({ key })).rejects.toMatchObject({
        code: 'invalid_request',
        details: [{ path: 'headers.idempotency-key', message }],
      });
    expect(sends).toBe(0);
  });

  test.each<[string, (slow: IdempotencyKey) => Promise<void>, string | undefined]>([
    ['keeps no answer', (slow) => slow.keep(done), 'another request holds the key'],
    [
      'releases no key',
      (slow) => slow.release(new ApiError('provider_busy', { payment: 'rejected' })),
      undefined,
    ],
  ])('%s after another request took the key over', async (name, end, message) => {
    stopDate();
    const context = { deadline: Date.now() + 10_000 };
    const slow = new IdempotencyKey(
      { key: name.replaceAll(' ', '-'), ...olgas },
      { attempt: 'slow', context },
    );
    await slow.acquire();
    stopDate(Date.now() + 20_000);
    const again = () => attempt({ key: name.replaceAll(' ', '-') });
    await again();
    const ending = end(slow);
    if (message !== undefined) await expect(ending).rejects.toThrow(message);
    else await ending;

    expect((await again()).headers).toMatchObject(replayed);
  });
});

/** Work that says when it is entered, which is after its key is held, and lasts until it is let out. */
function gate() {
  const [entered, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = () => {
    entered.resolve();
    return left.promise;
  };
  return { work, entered: entered.promise, leave: left.resolve };
}

/** Text that hardly compresses. */
function noise(words: number): string {
  return Array.from({ length: words }, () => Math.random().toString(36)).join('');
}
