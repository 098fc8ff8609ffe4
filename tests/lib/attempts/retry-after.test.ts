import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { setLimits } from '../../../tools/admin/spend/limits.ts';
import { noon, stopDate } from '@node-registry/testing/clock';
import { fc } from '@node-registry/testing/properties';
import { beforeNext } from '../../support/intercept.ts';
import type { Result } from '../../support/invoke.ts';
import { acceptedTasks } from '../../support/proxies.ts';
import { pay, spender } from '../../support/spending.ts';

/*
 * A caller that waits as long as Retry-After says succeeds, whenever it was rejected and by whichever limits. Up to 29
 * seconds are added at random, so that those who wait do not come back together; most of these tests take that away.
 */

const runs = 8;
const dayMs = 86_400_000;

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
});

/** Any time of a day, and often the last or first moments of a minute or of the day. */
const timeOfDay = fc.oneof(
  fc.integer({ min: 0, max: dayMs - 1 }),
  fc
    .tuple(fc.nat(1439), fc.constantFrom(0, 1, 999, 1000, 58_999, 59_000, 59_001, 59_999))
    .map(([minute, rest]) => minute * 60_000 + rest),
  fc.constantFrom(0, 1, dayMs - 60_000, dayMs - 1001, dayMs - 1000, dayMs - 999, dayMs - 1),
);

const limits = {
  'the requests of a minute': { requests_per_minute: 1 },
  'the credits of a day': { credits_per_day: 74 },
  'all of them': { requests_per_minute: 1, tasks_per_day: 1, credits_per_day: 74 },
};

describe.each(Object.entries(limits))('a caller that has used up %s', (_, own) => {
  test('succeeds after the Retry-After of its rejection, and not a second before its window ends', async () => {
    const today = Math.floor(Date.now() / dayMs) * dayMs;
    await fc.assert(
      fc.asyncProperty(timeOfDay, async (time) => {
        stopDate(today + time);
        const user = await spender(own);
        expect((await pay(user)).status).toBe(200);
        const rejected = await pay(user);
        const wait = Number(rejected.headers['retry-after']);

        // The same instant as in the window that ends last.
        const windows = [...String(rejected.headers.ratelimit).matchAll(/;t=(\d+)/g)].map(([, t]) =>
          Number(t),
        );
        expect([rejected.status, windows]).toEqual([429, expect.arrayContaining([wait])]);
        expect(Number.isInteger(wait) && wait >= 1).toBe(true);
        if (wait > 1) {
          stopDate(today + time + (wait - 1) * 1000 - (time % 1000));
          expect((await pay(user)).status).toBe(429);
        }
        stopDate(today + time + wait * 1000);
        const before = acceptedTasks();
        expect([time, (await pay(user)).status]).toEqual([time, 200]);
        expect(acceptedTasks() - before).toBe(1);
      }),
      { numRuns: runs },
    );
  });
});

test('callers that are rejected together are told waits that spread over half a minute', async () => {
  jest.restoreAllMocks();
  stopDate(noon());
  const user = await spender({ tasks_per_day: 1 });
  await pay(user);
  const answers = await Promise.all(Array.from({ length: 40 }, () => pay(user)));
  const waits = answers.map(({ headers }) => Number(headers['retry-after']));

  expect(Math.min(...waits)).toBeGreaterThanOrEqual(dayMs / 2000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(dayMs / 2000 + 29);
  // Of 40 that choose one of 30 seconds, fewer than 12 different ones come once in a billion runs.
  expect(new Set(waits).size).toBeGreaterThanOrEqual(12);
  for (const { headers } of answers) expect(headers.ratelimit).toContain(`;t=${headers['retry-after']}`);
});

const setLater = async (user: string, own: Parameters<typeof setLimits>[2]) =>
  void (await setLimits({ operator: 'admin' }, `user:${user}`, own));

describe('429 while tasks of the caller are running', () => {
  beforeEach(() => stopDate(noon()));

  /** Buys a task, and another one after the first has reserved what it may cost. */
  async function payTwice(user: string, inBetween = async () => {}): Promise<[Result, Result]> {
    const second: Result[] = [];
    const removal = beforeNext(dynamodb, /^PutItemCommand$/, async () => {
      await inBetween();
      second.push(await pay(user));
    });
    const first = await pay(user);
    removal.remove();
    return [first, second[0] ?? first];
  }

  test('returns too_many_requests for half a minute, and the same task fits once the first one has its price', async () => {
    const user = await spender({ credits_per_day: 100, requests_per_minute: 50 });
    const [first, second] = await payTwice(user);

    expect([first.status, second.status, second.body.error]).toEqual([200, 429, 'too_many_requests']);
    expect(second.body.message).toMatch(/^Running tasks of this caller hold the rest of its budget/);
    expect(Number(second.headers['retry-after'])).toBeLessThanOrEqual(30);
    const wait = second.headers['retry-after'];
    expect(second.headers.ratelimit).toMatch(new RegExp(`^"credits-per-day";r=26;t=${wait}, `));
    expect((await pay(user)).status).toBe(200);
  });

  const none = () => {};
  const oneOfTwo = async (user: string) => {
    await pay(user);
    await setLater(user, { credits_per_day: 100, tasks_per_day: 1 });
  };
  const nextDay = async (user: string) => {
    stopDate(new Date().setUTCHours(24, 0, 5, 0));
    await pay(user);
    await setLater(user, { credits_per_day: 93 });
  };

  test.each<[string, number, object, string, boolean, (user: string) => unknown]>([
    [
      'began earlier',
      noon(),
      { credits_per_day: 100 },
      'too_many_requests',
      true,
      () => stopDate(noon() + 120_000),
    ],
    ['fill no minute', noon(), { requests_per_minute: 1 }, 'too_many_requests', false, none],
    ['hold one of two limits', noon(), { credits_per_day: 174 }, 'budget_exhausted', false, oneOfTwo],
    [
      'began on the day before',
      noon() + 43_195_000,
      { credits_per_day: 200 },
      'budget_exhausted',
      false,
      nextDay,
    ],
  ])('knows what tasks give back that %s', async (_, began, own, code, isHeld, inBetween) => {
    stopDate(began);
    const user = await spender(own);
    const [, { body }] = await payTwice(user, async () => void (await inBetween(user)));

    expect([body.error, /^Running/.test(body.message)]).toEqual([code, isHeld]);
  });

  test('waits for the minute too where its requests are used up', async () => {
    stopDate(noon() + 10_000);
    const [, second] = await payTwice(await spender({ tasks_per_day: 1, requests_per_minute: 1 }));

    expect([second.body.error, second.headers['retry-after']]).toEqual(['too_many_requests', '50']);
  });
});
