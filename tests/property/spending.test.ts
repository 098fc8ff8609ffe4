import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accountRecord, keyOfAccount, openMinutes } from '../../lib/spend/account.ts';
import type { Limits } from '../../lib/spend/limits.ts';
import { sweepSpending } from '../../lib/spend/sweep-spending.ts';
import type { UsageRecord } from '../../lib/spend/usage-records.ts';
import { get } from '../../lib/store/read.ts';
import { setLimits } from '../../packages/admin/spend/terms.ts';
import { usagePages } from '../../packages/admin/spend/usage.ts';
import { imageFormat } from '../../tools/simulators/image-format.ts';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import type { Received } from '../../tools/simulators/simulation.ts';
import { videoFormat } from '../../tools/simulators/video-format.ts';
import { call as callEndpoint } from '../support/endpoints.ts';
import { sampleEvent } from '../support/invoke.ts';
import { fc } from '../support/properties.ts';
import { check, count, counts } from '../support/property-runs.ts';
import { simulation } from '../support/proxies.ts';
import { bearer } from '../support/tokens.ts';
import { injectFaults, planOf, type Strike, strikesIn, underPlan } from '../support/wire-faults.ts';

/** Nothing here is silent for long, and a crowd takes its time. */
const remainingMs = 20_000;
const operations = ['relight-image', 'text-to-video', 'extend-video', 'multiframe-video'] as const;

const misbehaviors: readonly Misbehavior[] = [
  { kind: 'reset' },
  { kind: 'reset', accepted: false },
  { kind: 'truncated' },
  { kind: 'html' },
  { kind: 'empty_echoes' },
  { kind: 'delay', ms: 20 },
  { kind: 'reply', without: ['task_id'] },
  { kind: 'reply', fields: { credits: 'many' }, provider: 'video' },
  { kind: 'status', status: 429, retryAfter: 0 },
  ...[400, 401, 402, 404, 429, 500, 502].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 503, retryAfter: 9 },
  { kind: 'status', status: 500, accepted: true },
];

interface PaidCall {
  operation: (typeof operations)[number];
  hasKey: boolean;
  strikes: readonly Strike[];
}

const paidCall = fc.record({
  operation: fc.constantFrom(...operations),
  hasKey: fc.boolean(),
  strikes: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: strikesIn(7) }),
});

describe('callers', () => {
  let faults: { stop: () => void };

  beforeAll(async () => {
    faults = await injectFaults();
  });

  afterAll(() => faults.stop());

  test('spend no more than they may, and every credit is accounted for, whatever fails', async () => {
    const values = fc.record({
      credits_per_day: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 400 })),
      tasks_per_day: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 6 })),
      calls: fc.array(paidCall, { minLength: 1, maxLength: 10 }),
      wrong: fc.array(fc.constantFrom(...misbehaviors), { maxLength: 6 }),
    });
    await check(values, async ({ calls, wrong, ...limits }) => {
      simulation.reset();
      for (const misbehavior of wrong) simulation.misbehave(misbehavior);
      const user = await newCaller(limits);
      await Promise.all(calls.map((call) => send(user, call)));
      await verifyAccounts([{ user, limits }]);
    });

    expect(counts['records taken']).toBeGreaterThan(0);
  });

  test('never exceed their budgets in a crowd', async () => {
    const values = fc.record({ credits_per_day: fc.integer({ min: 100, max: 900 }) });
    await check(values, (limits) => checkCrowd({ ...limits, tasks_per_day: 0 }), { weight: 0.01 });

    expect(counts['answers 429 too_many_requests']).toBeGreaterThan(0);
  });
});

type SetLimits = Pick<Limits, 'credits_per_day' | 'tasks_per_day'>;

/** 64 parallel calls on one budget, and 4 on each of 5 others. */
async function checkCrowd(limits: SetLimits): Promise<void> {
  simulation.reset();
  const call = { operation: 'text-to-video', hasKey: false, strikes: [] } as const;
  const users = await Promise.all(Array.from({ length: 6 }, () => newCaller(limits)));
  const times = users.flatMap((user, index) => Array.from({ length: index === 0 ? 64 : 4 }, () => user));
  await Promise.all(times.map((user) => send(user, call)));
  await verifyAccounts(users.map((user) => ({ user, limits })));
}

async function newCaller(limits: SetLimits): Promise<string> {
  const user = `spender-${randomUUID()}`;
  await setLimits(`user:${user}`, limits);
  return user;
}

async function send(user: string, paidCall: PaidCall): Promise<void> {
  const { operation, hasKey, strikes } = paidCall;
  const body = JSON.parse(String(sampleEvent(operation).body));
  const headers = {
    authorization: bearer(user),
    ...(hasKey && { 'idempotency-key': randomUUID() }),
  };
  const named = { ...body, ...(operation === 'relight-image' ? { prompt: user } : { payload: user }) };
  const request = { headers, body: named, remainingMs };
  const answer = await underPlan(planOf(strikes), () => callEndpoint(operation, request));
  count(`answers ${answer.status} ${answer.body.error ?? ''}`.trim());
}

async function verifyAccounts(spenders: readonly { user: string; limits: SetLimits }[]): Promise<void> {
  await sweepSpending(
    { deadline: Date.now() + 10_000 },
    { now: Date.now() + 60 * 60 * 1000, onEnded: ({ state }) => count(`ended ${state}`) },
  );
  for (const { user, limits } of spenders) {
    const ledger = simulation.received.filter(
      ({ taskId, body }) => taskId !== undefined && [body.payload, body.prompt].includes(user),
    );
    await verifyAccount(user, limits, ledger);
  }
}

async function verifyAccount(user: string, limits: SetLimits, ledger: readonly Received[]): Promise<void> {
  const caller = `user:${user}`;
  const account = accountRecord((await get({ deadline: Date.now() + 5000 }, keyOfAccount(caller)))[0]);
  const today = new Date().toISOString().slice(0, 10);
  const records = (await Array.fromAsync(usagePages({ from: yesterdayOf(today), to: today, caller }))).flat();
  const spent = sumOf(ledger.map(creditsOf));
  for (const { state } of records) count(`records ${state}`);

  if (limits.credits_per_day > 0)
    assert.ok(spent <= limits.credits_per_day, `${spent} credits of ${limits.credits_per_day}`);
  if (limits.tasks_per_day > 0) assert.ok(ledger.length <= limits.tasks_per_day, 'too many tasks');
  assert.deepEqual(account ? openMinutes(account) : [], [], 'a minute is open after the sweep');
  assert.equal(
    countersOf(account, 'credits'),
    sumOf(records.map(({ credits }) => credits)),
    'not the records',
  );
  assert.equal(countersOf(account, 'tasks'), records.filter(({ state }) => state !== 'refused').length);
  verifyLedger(records, ledger);
}

/** Task by task: none missing, none doubled. What is unknown may stand for one task each. */
function verifyLedger(records: readonly UsageRecord[], ledger: readonly Received[]): void {
  const priced = new Map(ledger.map((task) => [String(task.taskId), creditsOf(task)]));
  const unknown = records.filter(({ state }) => state === 'unknown').length;
  const taken = records.filter(({ state }) => state === 'taken');
  assert.ok(!records.some(({ state }) => state === 'reserved'), 'a record is open after the sweep');
  for (const { task_id = '', credits, is_exact } of taken) {
    const price = priced.get(task_id);
    assert.ok(price !== undefined, `a record of the task ${task_id}, which is not the provider's, or twice`);
    assert.ok(is_exact ? credits === price : credits >= price, `${credits} credits recorded of ${price}`);
    priced.delete(task_id);
  }
  assert.ok(priced.size <= unknown, `${priced.size} tasks without a record, and ${unknown} unknown`);
}

/** By the simulators' own prices, which share nothing with lib. */
function creditsOf({ provider, body }: Received): number {
  return (provider === 'image' ? imageFormat : videoFormat).creditsOf(body);
}

function countersOf(account: object | undefined, counter: string): number {
  const values = Object.entries(account ?? {}).filter(([name]) => name.startsWith(`${counter}:`));
  return sumOf(values.map(([, value]) => Number(value)));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function yesterdayOf(day: string): string {
  return new Date(Date.parse(day) - 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}
