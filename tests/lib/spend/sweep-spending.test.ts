import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type AccountRecord, keyOfAccount, openMinutes } from '../../../lib/spend/account.ts';
import { reserve, settle } from '../../../lib/spend/reservation.ts';
import { sweepSpending } from '../../../lib/spend/sweep-spending.ts';
import {
  type BegunAttempt,
  completeUsage,
  openUsage,
  rejectUsage,
  type UsageRecord,
  type UsageResult,
} from '../../../lib/spend/usage-records.ts';
import { callerHash } from '../../../lib/caller.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { dayCallerKey, idempotencyKey, taskKey } from '../../../lib/store/keys.ts';
import { put } from '../../../lib/store/write.ts';
import { absent } from '../../../lib/store/items.ts';
import { noon, stopDate } from '@node-registry/testing/clock';
import { beforeNext, failAmidWrites, intercept } from '../../support/intercept.ts';
import { lines, loggedLines } from '../../support/logged-lines.ts';
import { setFields, storedItem } from '../../support/registry.ts';
import { accountOf, countersOf, openOf, pay, sweepAfter, usageOf } from '../../support/spending.ts';

const soon = () => ({ deadline: Date.now() + 5000 });
const minuteMs = 60_000;

/** What an invocation leaves that dies after so many of its writes. */
async function leave(
  writes: 'reserved' | 'recorded' | UsageResult,
  names: { keyHash?: string; taskHash?: string; ceiling?: number } = {},
) {
  const user = `dead-${randomUUID()}`;
  const caller = `user:${user}`;
  const { at } = await reserve(soon(), { caller, ceiling: names.ceiling ?? 50 });
  const attempt = { caller, at, id: randomUUID() };
  if (writes === 'reserved') return { user, attempt };
  await openUsage(soon(), { ...opened(attempt), ...names });
  if (typeof writes === 'object') await completeUsage(soon(), attempt, writes);
  return { user, attempt };
}

function opened(attempt: BegunAttempt) {
  return { attempt, operation: 'textToVideo', requestId: 'r', keyHash: undefined, ceiling: 50 };
}

/** As the last step of an attempt that cost 20 of its 50. */
async function settleAsTaken(user: string, { caller, at }: BegunAttempt): Promise<void> {
  const account = (await accountOf(user)) as AccountRecord;
  await settle(soon(), { caller, at, ceiling: 50, credits: 20, isTask: true }, account);
}

// No minute ends meanwhile, and no day soon after.
beforeEach(() => stopDate(noon() + 30_000));

describe('the sweep of spending', () => {
  test('releases reservations without a usage record, since nothing was sent', async () => {
    const { user } = await leave('reserved');
    await sweepAfter(6);

    expect(countersOf(await accountOf(user))).toEqual({ credits: 0, tasks: 0 });
    expect(await usageOf(user)).toEqual([]);
  });

  test('counts recorded requests that may have been sent in full, and keeps nothing else of the minute', async () => {
    const { user, attempt } = await leave('recorded');
    await sweepAfter(6);
    await sweepAfter(16);

    const day = new Date(attempt.at).toISOString().slice(0, 10);
    expect(await accountOf(user)).toEqual({
      ...keyOfAccount(attempt.caller),
      ...{ caller: attempt.caller, [`credits:${day}`]: 50, [`tasks:${day}`]: 1, listed: day },
      ...{ closed: Math.floor(attempt.at / minuteMs), revision: 3, write_id: expect.any(String) },
    });
    const [at, completed_at] = [attempt.at, Date.now()].map((time) => new Date(time).toISOString());
    const state = 'unknown';
    expect(await usageOf(user)).toMatchObject([{ at, state, credits: 50, is_exact: false, completed_at }]);
    expect(lines('swept_usage')).toContainEqual(expect.objectContaining({ level: 'info', at, state }));
  });

  test.each<[UsageResult, number, number]>([
    [{ state: 'taken', credits: 20, task_id: 'a' }, 20, 1],
    [{ state: 'rejected', credits: 0 }, 0, 0],
    [{ state: 'unknown', credits: 50 }, 50, 1],
    [{ state: 'taken', credits: 99, task_id: 'above its ceiling' }, 99, 1],
  ])('corrects the account by a record that was completed: %j', async (result, credits, tasks) => {
    const { user } = await leave(result);
    await sweepAfter(6);

    expect(countersOf(await accountOf(user))).toEqual({ credits, tasks });
    expect(await usageOf(user)).toMatchObject([result]);
  });

  const told = { task_id: 'told' };

  const taken = { state: 'taken', credits: 20, ...told };
  const unknown = { state: 'unknown', credits: 50 };
  const rejected = { state: 'rejected', credits: 0 };

  test.each<[string, object, object]>([
    ['answered', { ...told, credits: 20 }, { ...taken, is_exact: true }],
    ['answered', told, { ...taken, credits: 50, is_exact: false }],
    ['answered', { ...told, attempt: 'a later one' }, unknown],
    ['running', {}, { ...rejected, is_exact: true }],
    ['sent', {}, { ...unknown, is_exact: false }],
    ['unknown', {}, { ...unknown, is_exact: false }],
  ])('ends an open record by its Idempotency-Key that is %s with %j', async (state, fields, expected) => {
    const keyHash = randomUUID();
    const { user, attempt } = await leave('recorded', { keyHash });
    await put(soon(), { ...idempotencyKey(keyHash), attempt: attempt.id, state, ...fields }, absent);
    await expectEnded(user, expected);
  });

  test.each<[string, object | undefined, object]>([
    ['answered', { payment: 'taken', ...told, credits: 20 }, taken],
    ['named by a notification', told, { ...unknown, ...told }],
    ['told nothing about', {}, unknown],
    ['never sent', undefined, rejected],
  ])('ends an open record without a key by its task that was %s', async (_, task, expected) => {
    const taskHash = randomUUID();
    const { user } = await leave('recorded', { taskHash });
    if (task) await put(soon(), { ...taskKey(taskHash), ...task }, absent);
    await expectEnded(user, expected);
  });

  async function expectEnded(user: string, expected: object): Promise<void> {
    await sweepAfter(6);
    const [record] = await usageOf(user);
    expect(record).toMatchObject(expected);
    expect(countersOf(await accountOf(user)).credits).toBe(record?.credits);
  }

  // The sweep's clock is wrong by six minutes, or the record was stored late.
  test('finds a record that arrives after its minute was closed', async () => {
    const { user, attempt } = await leave('reserved');
    await sweepAfter(6);
    expect(countersOf(await accountOf(user))).toEqual({ credits: 0, tasks: 0 });
    await openUsage(soon(), opened(attempt));
    await sweepAfter(14);
    expect(await usageOf(user)).toMatchObject([{ state: 'reserved' }]);
    await sweepAfter(16);

    expect(await usageOf(user)).toMatchObject([{ state: 'unknown', credits: 50 }]);
    const account = await accountOf(user);
    expect(countersOf(account)).toEqual({ credits: 50, tasks: 1 });
    expect(account).not.toHaveProperty('pending_shard');
  });

  test.each<[UsageResult, number]>([
    [{ state: 'taken', credits: 20, is_exact: true, task_id: 'a' }, 20],
    [{ state: 'rejected', credits: 0 }, 0],
  ])('lets a request that it took for dead have the last word: %j', async (result, credits) => {
    const { user, attempt } = await leave('recorded');
    await sweepAfter(6);
    expect(await completeUsage(soon(), attempt, result)).toBe(true);
    await sweepAfter(16);

    expect(countersOf(await accountOf(user)).credits).toBe(credits);
    const [record] = await usageOf(user);
    expect(record).toMatchObject(result);
    expect(Object.keys(record ?? {})).not.toEqual(expect.arrayContaining(['is_swept', 'ceiling']));
  });

  test('ends a record and closes its minute once when two sweeps meet', async () => {
    await sweepAfter(6);
    const { user } = await leave('recorded');
    loggedLines.length = 0;
    const meeting = beforeNext(dynamodb, /^UpdateItemCommand$/, () => sweepAfter(6));
    await sweepAfter(6);
    const account = await accountOf(user);

    expect(meeting.happened()).toBe(true);
    expect(countersOf(account)).toEqual({ credits: 50, tasks: 1 });
    expect(account && openMinutes(account)).toEqual([]);
    expect(lines('swept_usage')).toHaveLength(1);
  });

  test('ends after its last write, also after another one that failed', async () => {
    const { attempt } = await leave('recorded');
    // Nearly surely in more than one partition.
    for (let records = 1; records < 12; records += 1)
      await openUsage(soon(), opened({ ...attempt, id: randomUUID() }));
    const failure = failAmidWrites(dynamodb, 'UpdateItemCommand', callerHash(attempt.caller));
    const { failed } = await sweepAfter(6);

    expect([failed, failure]).toEqual([1, { happened: true, open: 0 }]);
  });

  test('leaves a minute alone whose youngest attempt may be younger than four minutes', async () => {
    stopDate(new Date().setUTCSeconds(59));
    const { user } = await leave('recorded');
    await sweepAfter(4);
    expect(openOf(await accountOf(user))).toEqual({ credits: 50, tasks: 1, running: 1 });

    await sweepAfter(4 + 1 / 60);
    expect(openOf(await accountOf(user))).toEqual({});
  });

  test('reads no record of a minute in which all attempts are settled, whatever came after it', async () => {
    const { user, attempt } = await leave({ state: 'taken', credits: 20, task_id: 'a' });
    await settleAsTaken(user, attempt);
    stopDate(attempt.at + 4 * minuteMs);
    const { at } = await reserve(soon(), { caller: attempt.caller, ceiling: 50 });
    await settleAsTaken(user, { ...attempt, at });
    stopDate(attempt.at);
    const queries: string[] = [];
    intercept(dynamodb, ({ command, input, send }) => {
      if (command === 'QueryCommand') queries.push(JSON.stringify(input));
      return send();
    });
    await sweepAfter(6);

    expect(queries.join()).not.toContain(callerHash(attempt.caller));
    const account = await accountOf(user);
    expect(openOf(account)).toEqual({ credits: 20, tasks: 1, running: 0 });
    expect(countersOf(account)).toMatchObject({ credits: 40, tasks: 2 });
    expect(account).toMatchObject({ pending_since: new Date(at).toISOString().slice(0, 16) });
  });

  test('stops at its deadline in the middle of a minute, and the next sweep ends only the rest', async () => {
    // Minutes with crashes are looked at again.
    for (const minutes of [6, 17]) await sweepAfter(minutes);
    const { user, attempt } = await leave('recorded');
    const ids = Array.from({ length: 39 }, () => randomUUID());
    await Promise.all(ids.map((id) => openUsage(soon(), opened({ ...attempt, id }))));
    const ended: object[] = [];
    const given = {
      now: Date.now() + 6 * minuteMs,
      onVisited: () => {},
      onEnded: (record: object) => void ended.push(record),
    };
    const context = {
      get deadline() {
        return ended.length < 4 ? Number.POSITIVE_INFINITY : 0;
      },
    };
    expect(await sweepSpending(context, given)).toMatchObject({ failed: 0, unvisited: 1 });
    expect(ended.length).toBeLessThan(8);
    await sweepSpending(soon(), given);

    expect(ended).toHaveLength(40);
    expect(countersOf(await accountOf(user))).toEqual({ credits: 40 * 50, tasks: 40 });
  });

  test.each<[UsageResult, number]>([
    [{ state: 'taken', credits: 20 }, 50],
    // Without a limit of credits nothing is reserved but a task.
    [{ state: 'rejected', credits: 0 }, 0],
  ])('closes nothing that is settled meanwhile, and closes it the next time: %j', async (result, ceiling) => {
    const { user, attempt } = await leave(result, { ceiling });
    const { caller, at } = attempt;
    const [{ credits }, isTask] = [result, result.state === 'taken'];
    stopDate(at + minuteMs);
    // Its minute stays open.
    await reserve(soon(), { caller, ceiling: 0 });
    const seen = (await accountOf(user)) as AccountRecord;
    const stop = intercept(dynamodb, async ({ command, input, send }) => {
      if (command !== 'UpdateItemCommand' || !JSON.stringify(input).includes(callerHash(caller)))
        return send();
      stop();
      await settle(soon(), { caller, at, ceiling, credits, isTask }, seen);
      return send();
    });
    await sweepAfter(4);
    const tasks = isTask ? 2 : 1;
    expect(openOf(await accountOf(user))).toEqual({ credits, tasks, running: 1 });

    await sweepAfter(4);
    expect(countersOf(await accountOf(user))).toEqual({ credits, tasks, requests: 1 });
    expect(openOf(await accountOf(user))).toEqual({ credits: 0, tasks: 1, running: 1 });
  });

  test('begins with what has been due the longest', async () => {
    const orders = new Set<unknown>();
    intercept(dynamodb, ({ command, input, send }) => {
      if (command === 'QueryCommand') orders.add(input.ScanIndexForward);
      return send();
    });
    await sweepAfter(6);

    expect([...orders]).toEqual([true]);
  });

  test('keeps an account listed that reserves while its last minute is closed', async () => {
    const { user, attempt } = await leave('reserved');
    const closing = beforeNext(dynamodb, /^UpdateItemCommand$/, async () => {
      stopDate(Date.now() + 6 * minuteMs);
      closing.remove();
      await reserve(soon(), { caller: attempt.caller, ceiling: 50 });
      stopDate(attempt.at);
    });
    await sweepAfter(6);
    await sweepAfter(13);

    expect(countersOf(await accountOf(user))).toMatchObject({ credits: 0, tasks: 0 });
    expect(openOf(await accountOf(user))).toEqual({});
  });

  test('lists the caller of a day whose request could not, and was paid for all the same, on the next day', async () => {
    stopDate(new Date().setUTCHours(23, 59, 30));
    const user = `unlisted-${randomUUID()}`;
    const stop = intercept(dynamodb, ({ input, send }) => {
      if (String(Object(input).Item?.sk?.S).startsWith('CALLER#')) throw new Error('not listed');
      return send();
    });
    expect((await pay(user)).status).toBe(200);
    stop();
    expect(loggedLines.join()).toContain('"step":"list the caller of the day"');
    stopDate(Date.now() + 6 * minuteMs);
    await sweepAfter(0);

    await expectListed(user);
  });

  test('lists the caller of a day whose first attempt left no record', async () => {
    const { user } = await leave('reserved');
    stopDate(Date.now() + minuteMs);
    await pay(user);
    await sweepAfter(4);
    await sweepAfter(6);

    await expectListed(user);
  });

  test.each([
    ['a request', pay],
    ['a sweep', () => sweepAfter(4.5)],
  ])('keeps the counters of yesterday and of open minutes, and no older ones, after %s', async (_, work) => {
    const { user, attempt } = await leave('reserved');
    const dayOf = (ago: number) => new Date(attempt.at - ago * 86_400_000).toISOString().slice(0, 10);
    const of = (ago: number) => ['credits', 'tasks', 'warned'].map((name) => `${name}:${dayOf(ago)}`);
    const minute = Math.floor(attempt.at / minuteMs);
    const requests = [`requests@${minute - 3}`, `requests@${minute - 2}`];
    const names = [...of(2), ...of(1), ...requests];
    await setFields(keyOfAccount(attempt.caller), Object.fromEntries(names.map((name) => [name, 1])));
    await work(user);

    const kept = Object.keys((await accountOf(user)) ?? {});
    expect(kept.filter((name) => names.includes(name)).sort()).toEqual(
      [...of(1), ...requests.slice(1)].sort(),
    );
    expect(kept.filter((name) => of(0).includes(name))).toHaveLength(2);
  });
});

async function expectListed(user: string): Promise<void> {
  const [{ caller, at }] = (await usageOf(user)) as [UsageRecord];
  const { pk, sk } = dayCallerKey(callerHash(caller), at.slice(0, 10));
  expect(await storedItem(pk, sk)).toMatchObject({ caller });
}

describe('a closed minute', () => {
  test('takes no reservation, which goes to the first minute that is not closed', async () => {
    const { user, attempt } = await leave('recorded');
    await sweepAfter(6);
    const { at } = await reserve(soon(), { caller: attempt.caller, ceiling: 50 });

    expect(Math.floor(at / minuteMs)).toBe(Math.floor(attempt.at / minuteMs) + 1);
    expect(at % minuteMs).toBe(0);
    expect(countersOf(await accountOf(user))).toMatchObject({ credits: 100, tasks: 2 });
  });

  test('takes no settlement', async () => {
    const { user, attempt } = await leave('reserved');
    const before = await accountOf(user);
    await sweepAfter(6);
    const settlement = { caller: attempt.caller, at: attempt.at, ceiling: 50, credits: 0, isTask: false };
    await settle(soon(), settlement, before as AccountRecord);

    expect(countersOf(await accountOf(user))).toEqual({ credits: 0, tasks: 0 });
  });
});

test.each([
  ['before', 'recorded'],
  ['after', 'reserved'],
] as const)('keeps the record of a rejection when its own write arrives %s it', async (_, writes) => {
  const { user, attempt } = await leave(writes);
  await rejectUsage(soon(), opened(attempt), 'unavailable');
  await expect(openUsage(soon(), opened(attempt))).rejects.toThrow('already exists');

  const completed_at = new Date().toISOString();
  const rejected = { state: 'rejected', credits: 0, is_exact: true, code: 'unavailable', completed_at };
  expect(await usageOf(user)).toMatchObject([rejected]);
});

test('sweeps an account with many open minutes in several rounds', async () => {
  const { user, attempt } = await leave('recorded');
  const minute = Math.floor(attempt.at / minuteMs);
  const older = Array.from({ length: 50 }, (_, index) => minute - index - 1);
  const counters = older.flatMap((each) => [
    [`credits@${each}`, 7],
    [`tasks@${each}`, 1],
  ]);
  await setFields(keyOfAccount(attempt.caller), Object.fromEntries(counters));
  for (let round = 0; round < 3; round += 1) await sweepAfter(6);

  expect(openOf(await accountOf(user))).toEqual({});
});
