import { hash } from 'node:crypto';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { blockCaller, setLimits, unblockCaller } from '../../../tools/admin/spend/limits.ts';
import type { Misbehavior } from '../../../tools/simulators/misbehaviors.ts';
import { callerHash } from '../../../lib/caller.ts';
import { dueAt } from '../../../lib/attempts/account.ts';
import { type AttemptRecord, endAttempt } from '../../../lib/attempts/attempt.ts';
import { Purchase } from '../../../lib/attempts/purchase.ts';
import { reserve } from '../../../lib/attempts/reserve.ts';
import { ApiError } from '../../../lib/errors.ts';
import { dayCallerKey } from '../../../lib/store/keys.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { noon, stopDate } from '@node-registry/testing/clock';
import { failCalls, intercept } from '../../support/intercept.ts';
import { lines, loggedLines } from '../../support/logged-lines.ts';
import { acceptedTasks, misbehave, simulation } from '../../support/proxies.ts';
import { soon, storedItem } from '../../support/registry.ts';
import { setVariables } from '../../support/variables.ts';
import {
  accountOf,
  attemptOf,
  countersOf,
  pay,
  spender,
  sweepAfter,
  usageOf,
} from '../../support/spending.ts';

/** What the simulators charge for sample events, and what tests/support/environment.ts allows them to. */
const prices = { 'relight-image': 1, 'text-to-video': 20, 'multiframe-video': 20 } as const;
type Name = keyof typeof prices;
const operations: Record<Name, object> = {
  'relight-image': { operation: 'relightImage' },
  'text-to-video': { operation: 'textToVideo', model: 'vidq2-turbo', seconds: 5 },
  'multiframe-video': { operation: 'multiframeVideo', model: 'vidq2-pro', frames: 2 },
};
const ceilings: Record<Name, number> = { 'relight-image': 1, 'text-to-video': 74, 'multiframe-video': 20 };
const names = Object.keys(prices) as Name[];

function framesOf(...durations: (number | null)[]) {
  return durations.map((duration) => ({ key_image: 'https://example.com/frame.png', duration }));
}

const now = () => new Date().toISOString();
/** 400 days from now, in the seconds of DynamoDB. */
const expiry = () => Math.ceil(Date.now() / 1000) + 400 * 86_400;

/** The whole record of a sample attempt that began and ended at this moment. */
function usageNow(user: string, name: Name, fields: object) {
  return {
    pk: expect.stringMatching(`^USAGE#${now().slice(0, 10)}#${callerHash(`user:${user}`)}#[0-3]$`),
    sk: expect.stringMatching(`^${now()}#[\\w-]{8}$`),
    at: now(),
    completed_at: now(),
    ms: 0,
    ttl: expiry(),
    caller: `user:${user}`,
    request_id: `sample-${name}`,
    ...operations[name],
    n: 0,
    ceiling: ceilings[name],
    revision: 1,
    write_id: expect.any(String),
    ...fields,
  };
}

const lastRequestLine = (): Record<string, unknown> => lines('request').at(-1);

// No day ends meanwhile, nor soon after.
beforeEach(() => stopDate(noon()));

describe('a paid request that a provider takes', () => {
  test.each(names)('counts %s at its price, with one record', async (name) => {
    const user = await spender();
    const { status, headers } = await pay(user, name, { headers: { 'idempotency-key': user } });

    expect(status).toBe(200);
    expect(headers['x-credits-used']).toBe(String(prices[name]));
    const credits = prices[name];
    const [caller, today] = [`user:${user}`, now().slice(0, 10)];
    expect(countersOf(await accountOf(user))).toEqual({ credits, tasks: 1, requests: 1 });
    expect(await accountOf(user)).toMatchObject({ open: 0, listed: today, pending_since: dueAt(Date.now()) });
    const key_hash = hash('sha256', `${caller}\n${user}`);
    const task_id = simulation.received[0]?.taskId;
    expect(await usageOf(user)).toEqual([
      usageNow(user, name, { payment: 'taken', credits, is_exact: true, key_hash, task_id }),
    ]);
    expect(lastRequestLine()).toMatchObject({ credits, credits_counted: credits });
    expect(lastRequestLine()).not.toHaveProperty('credits_above_ceiling');
    const key = dayCallerKey(callerHash(caller), today);
    expect(await storedItem(key)).toEqual({ ...key, caller, ttl: expiry(), write_id: expect.any(String) });
  });

  test.each([
    ['text-to-video', { duration: 3 }, 3, undefined],
    ['text-to-video', { duration: null }, undefined, undefined],
    ['multiframe-video', { image_settings: framesOf(7, 2, 7) }, 16, 3],
    ['multiframe-video', { image_settings: framesOf(7, null) }, undefined, 2],
    ['multiframe-video', { image_settings: framesOf(1e300, 7) }, 2 ** 31 - 1, 2],
  ] as const)('records the seconds and frames of %s with %j: %j, %j', async (name, body, ...recorded) => {
    const user = await spender();
    await pay(user, name, { body });

    expect((await usageOf(user)).map(({ seconds, frames }) => [seconds, frames])).toEqual([recorded]);
  });

  test('keeps the whole reservation if the reply names no price', async () => {
    const user = await spender();
    misbehave({ kind: 'reply', fields: { credits: 'many' } });
    const { headers, body } = await pay(user);

    expect(lines('provider_reply')).toMatchObject([{ unreadable: ['credits'] }]);
    expect(headers).not.toHaveProperty('x-credits-used');
    expect(body.credits).toBe(0);
    expect(countersOf(await accountOf(user))).toMatchObject({ credits: ceilings['text-to-video'] });
    expect(await usageOf(user)).toMatchObject([{ payment: 'taken', is_exact: false }]);
    const credits_counted = ceilings['text-to-video'];
    expect(lastRequestLine()).toMatchObject({ credits_counted, credits_are_ceiling: true });
    expect(lastRequestLine()).not.toHaveProperty('credits');
  });
});

// The day has room for the ceiling, not for some of these prices.
test.each([74, 75, 2 ** 31 - 1, 2 ** 31])(
  'counts a price in full, and logs its excess: %d',
  async (credits) => {
    const user = await spender({ credits_per_day: 80 });
    misbehave({ kind: 'reply', fields: { credits } });
    const { body, headers } = await pay(user);

    const shown = Math.min(credits, 2 ** 31 - 1);
    expect([body.credits, headers['x-credits-used']]).toEqual([shown, String(shown)]);
    expect(countersOf(await accountOf(user))).toMatchObject({ credits });
    expect(await usageOf(user)).toMatchObject([{ payment: 'taken', credits, is_exact: true }]);
    expect(lastRequestLine()).toMatchObject({ credits_counted: credits });
    expect(lastRequestLine().credits_above_ceiling).toBe(credits > 74 ? credits - 74 : undefined);
  },
);

const unknown = { payment: 'unknown', is_exact: false } as const;

describe('a paid request that is not taken', () => {
  // What becomes of one that cannot be recorded: tests/lib/notifications/relayed-requests.test.ts.
  test.each<[Misbehavior, string, Partial<AttemptRecord>]>([
    [
      { kind: 'status', status: 400 },
      'provider_rejected',
      { payment: 'rejected', is_exact: true, credits: 0 },
    ],
    [{ kind: 'status', status: 500 }, 'provider_failed', { ...unknown, credits: 74 }],
    [{ kind: 'truncated' }, 'provider_invalid_reply', { ...unknown, credits: 74, credits_told: 20 }],
    [reply(20), 'provider_invalid_reply', { ...unknown, credits: 74, credits_told: 20 }],
    [reply(99), 'provider_invalid_reply', { ...unknown, credits: 99, credits_told: 99 }],
  ])(
    'keeps its reservation, or the price above it, only if it may have been taken: %j',
    async (by, code, end) => {
      const user = await spender();
      misbehave(by);
      await pay(user);

      const isRejected = end.payment === 'rejected';
      const { credits } = end;
      expect(countersOf(await accountOf(user))).toEqual({ credits, tasks: isRejected ? 0 : 1, requests: 1 });
      expect(await accountOf(user)).toMatchObject({ open: 0 });
      const [record] = await usageOf(user);
      expect(record).toMatchObject({ ...end, code });
      expect(record?.task_id !== undefined).toBe(by.kind === 'truncated');
      expect(lastRequestLine().credits_counted).toBe(isRejected ? undefined : credits);
    },
  );
});

/** A reply with a price and without a task. */
function reply(credits: number): Misbehavior {
  return { kind: 'reply', fields: { credits }, without: ['task_id'] };
}

test('lists a caller under a day once, with its first request', async () => {
  const user = await spender();
  let listings = 0;
  intercept(dynamodb, ({ input, send }) => {
    listings += Number(JSON.stringify(input.Item ?? '').includes('"CALLER#'));
    return send();
  });
  const counts: number[] = [];
  for (let request = 1; request <= 2; request += 1) {
    await pay(user);
    counts.push(listings);
  }

  expect(counts).toEqual([1, 1]);
});

test('gives nothing back before a record says that its attempt was rejected', async () => {
  const user = await spender();
  const stop = failCalls(dynamodb, 'PutItemCommand', new Error('not stored'));
  const { status } = await pay(user);
  stop();

  expect([status, await usageOf(user)]).toEqual([500, []]);
  expect(await accountOf(user)).toMatchObject({ open: 1 });
  expect(countersOf(await accountOf(user))).toMatchObject({ credits: 74, tasks: 1 });
});

test.each<[string, recordTask: (() => Promise<void>) | undefined, (purchase: Purchase) => Promise<void>]>([
  ['was taken', undefined, (purchase) => purchase.taken({ taskId: 'a', credits: 1 })],
  [
    'was not sent',
    () => Promise.reject(new Error('not stored')),
    (purchase) => purchase.failed(new ApiError('unavailable').with({ payment: 'rejected' })),
  ],
])(
  'an attempt that %s ends once, and the account follows the first to say so',
  async (_, recordTask, end) => {
    const user = await spender();
    const [attempt, context] = [attemptOf(user), soon()];
    const purchase = new Purchase(context, attempt);
    await purchase.begin(recordTask).catch(() => undefined);
    const before = await accountOf(user);
    // A visit was first, and its write to the account was lost.
    const ended = { payment: 'unknown', credits: 50 } as const;
    expect(await endAttempt(context, attempt, ended)).toBe(true);
    await end(purchase);

    expect(await usageOf(user)).toMatchObject([ended]);
    expect(await accountOf(user)).toEqual(before);
  },
);

test('the end of an attempt is written however often the table throttles, since a task was bought', async () => {
  // No wait between the tries.
  const random = jest.spyOn(Math, 'random').mockReturnValue(0);
  let throttled = 0;
  intercept(dynamodb, async ({ command, input, send }) => {
    const isEnd = command === 'UpdateItemCommand' && JSON.stringify(input).includes('"USAGE#');
    if (!isEnd || throttled === 12) return send();
    throttled += 1;
    throw Object.assign(new Error('Slow down.'), { name: 'ThrottlingException' });
  });
  const user = await spender();
  await pay(user);
  random.mockRestore();

  expect([throttled, await usageOf(user)]).toMatchObject([12, [{ payment: 'taken' }]]);
});

test('429 too_many_requests stops a caller with as many open requests as the stage accepts', async () => {
  setVariables({ OPEN_ATTEMPTS: '2' });
  const user = await spender();
  for (const attempt of [attemptOf(user), attemptOf(user)]) await reserve(soon(), attempt);
  const { status, body, headers } = await pay(user);

  expect([status, body.error]).toEqual([429, 'too_many_requests']);
  expect(body.message).toMatch(/^As many requests of this caller as may be open/);
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(30);
  await sweepAfter(12);
  expect((await pay(user)).status).toBe(200);
  expect(await accountOf(user)).toMatchObject({ open: 0 });
});

test('a key is free again after a 503, however the store failed', async () => {
  const user = await spender();
  const headers = { 'idempotency-key': 'after-a-hiccup' };
  for (const kind of ['IDEMPOTENCY#', 'CALLER#']) {
    const repair = intercept(dynamodb, async ({ command, input, send }) => {
      const { Item, Key = Item } = input as { Item?: { pk: { S: string } }; Key?: { pk: { S: string } } };
      if (command === 'DeleteItemCommand' || !Key?.pk.S.startsWith(kind)) return send();
      await send().catch(() => undefined);
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' });
    });
    const failed = await pay(user, 'text-to-video', { headers });
    repair();

    expect([kind, failed.status, failed.body.error]).toEqual([kind, 503, 'unavailable']);
  }
  expect((await pay(user, 'text-to-video', { headers })).status).toBe(200);
});

test.each([
  [1, 200],
  [2, 200],
  [3, 503],
])(
  'a reservation is made again, and the first given back, if its answer is lost %i times: %i',
  async (times, status) => {
    let left = times;
    intercept(dynamodb, async ({ input, send }) => {
      const output = await send();
      if (!String(input.UpdateExpression).includes('if_not_exists') || left === 0) return output;
      left -= 1;
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' });
    });
    const user = await spender();
    expect((await pay(user)).status).toBe(status);

    const [credits, tasks] = status === 200 ? [20, 1] : [0, 0];
    expect([acceptedTasks(), left]).toEqual([tasks, 0]);
    expect(countersOf(await accountOf(user))).toEqual({ credits, tasks, requests: Math.min(times + 1, 3) });
    expect(await accountOf(user)).toMatchObject({ open: 0 });
  },
);

describe('429 budget_exhausted', () => {
  test.each(['relight-image', 'text-to-video'] as const)(
    'stops %s once the day has no room for it',
    async (name) => {
      const user = await spender({ credits_per_day: ceilings[name] });
      const taken = await pay(user, name);
      const before = await accountOf(user);
      loggedLines.length = 0;
      const stopped = await pay(user, name);

      expect([taken.status, stopped.status, stopped.body.error]).toEqual([200, 429, 'budget_exhausted']);
      expect(lastRequestLine()).toMatchObject({ code: 'budget_exhausted', reason: 'credits-per-day' });
      expect(loggedLines).toHaveLength(1);
      expect(stopped.headers.ratelimit).toContain(`r=${ceilings[name] - prices[name]};`);
      const amount = (credits: number) => (credits === 1 ? '1 credit' : `${credits} credits`);
      const left = amount(ceilings[name] - prices[name]);
      expect(stopped.body.message).toBe(
        `This task may cost ${amount(ceilings[name])}, and this caller’s budget for today has ${left} left. It starts over at midnight UTC.`,
      );
      expect(await accountOf(user)).toEqual(before);
      expect(await usageOf(user)).toHaveLength(1);
    },
  );

  test('says so without Retry-After if no day has room for the task, by the limit of its caller', async () => {
    const user = await spender({ credits_per_day: 73 });
    // The second one finds the caller's limits in memory.
    for (const { status, body, headers } of [await pay(user), await pay(user)]) {
      expect([status, body.error]).toEqual([429, 'budget_exhausted']);
      expect(body.message).toContain('74 credits');
      expect(headers).not.toHaveProperty('retry-after');
      expect(headers.ratelimit).toMatch(/^"credits-per-day";r=73;t=\d+$/);
    }
    setVariables({ CREDITS_PER_DAY: '73' });
    expect((await pay(await spender({ credits_per_day: 74 }))).status).toBe(200);
    setVariables({ CREDITS_PER_DAY: 'none' });
  });
});

test('403 caller_blocked stops a caller at once, even where other limits are cached, until it is unblocked', async () => {
  const user = await spender({ credits_per_day: 1000 });
  expect((await pay(user)).status).toBe(200);
  await blockCaller({ operator: 'admin' }, `user:${user}`, 'a leaked token');
  for (const { status, body, text } of [await pay(user), await pay(user)]) {
    expect([status, body.error]).toEqual([403, 'caller_blocked']);
    expect(text).not.toContain('leaked');
  }
  expect((await accountOf(user))?.limits?.blocked?.reason).toBe('a leaked token');
  expect(acceptedTasks()).toBe(1);
  await unblockCaller({ operator: 'admin' }, `user:${user}`);
  expect((await pay(user)).status).toBe(200);
});

test('RateLimit fields say what the account holds at that moment, for each limit, in errors too', async () => {
  const user = await spender({ credits_per_day: 2000, tasks_per_day: 10, requests_per_minute: 5 });
  const { headers } = await pay(user);
  misbehave({ kind: 'status', status: 400 });
  const failed = await pay(user);

  expect(headers['ratelimit-policy']).toBe(
    '"credits-per-day";q=2000;w=86400, "tasks-per-day";q=10;w=86400, "requests-per-minute";q=5;w=60',
  );
  expect(headers.ratelimit).toMatch(
    /^"credits-per-day";r=1980;t=\d+, "tasks-per-day";r=9;t=\d+, "requests-per-minute";r=4;t=\d+$/,
  );
  expect(failed.headers.ratelimit).toMatch(/r=1980;.*r=9;.*r=3;t=\d+$/);
  await setLimits({ operator: 'admin' }, `user:${user}`, { credits_per_day: 19 });
  expect((await pay(user)).headers.ratelimit).toMatch(/^"credits-per-day";r=0;/);
  expect((await pay(await spender())).headers).not.toHaveProperty('ratelimit');
  setVariables({ CREDITS_PER_DAY: '2000', TASKS_PER_DAY: '10', REQUESTS_PER_MINUTE: '5' });
  const byDefault = await pay(await spender());
  expect(byDefault.headers['ratelimit-policy']).toBe(headers['ratelimit-policy']);
});
