import { sweepAfter } from '../support/spending.ts';
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { type Limits, openReservations } from '../../lib/attempts/account.ts';
import type { AttemptRecord } from '../../lib/attempts/attempt.ts';
import { setLimits } from '../../tools/admin/spend/limits.ts';
import { imageFormat } from '../../tools/simulators/image-format.ts';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import type { Received } from '../../tools/simulators/simulation.ts';
import { videoFormat } from '../../tools/simulators/video-format.ts';
import { call as callEndpoint } from '../support/endpoints.ts';
import { sampleBody } from '../support/invoke.ts';
import { fc } from '@node-registry/testing/properties';
import { check, count, counts } from '@node-registry/testing/property-runs';
import { proxyNames, simulation } from '../support/proxies.ts';
import '../support/queue.ts';
import { accountOf, sumsOf, usageOf } from '../support/spending.ts';
import { bearer } from '../support/tokens.ts';
import { faultKinds, lateCalls, planOf, type Strike, strikesIn, underPlan } from '../support/wire-faults.ts';

/*
 * Callers spend through machines whose clocks differ, around midnight, while providers misbehave and invocations die at
 * any call of the store. Meanwhile no account passes a limit; a quarter of an hour later the attempts, the accounts and the
 * providers' own list agree, task by task.
 */

const minuteMs = 60_000;
const skews = [-90_000, -20_000, 0, 20_000, 90_000];

const misbehaviors: readonly Misbehavior[] = [
  { kind: 'reset' },
  { kind: 'reset', accepted: false },
  { kind: 'truncated' },
  { kind: 'html' },
  { kind: 'delay', ms: 20 },
  { kind: 'delay', ms: 200 },
  { kind: 'reply', without: ['task_id'] },
  { kind: 'reply', without: ['state'], provider: 'video' },
  { kind: 'reply', fields: { credits: 'many' }, provider: 'video' },
  { kind: 'reply', fields: { credits: null }, provider: 'video' },
  { kind: 'status', status: 429, retryAfter: 0 },
  ...[400, 401, 402, 404, 409, 422, 429, 500, 502].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 503, retryAfter: 9 },
  { kind: 'status', status: 500, accepted: true },
];

interface PaidCall {
  operation: string;
  caller: number;
  machine: number;
  hasKey: boolean;
  strikes: readonly Strike[];
}

const strikes = strikesIn(7, [...faultKinds, 'late']);
const paidCall: fc.Arbitrary<PaidCall> = fc.record({
  operation: fc.constantFrom(...proxyNames),
  caller: fc.nat(1),
  machine: fc.nat(skews.length - 1),
  hasKey: fc.boolean(),
  strikes: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: strikes }),
});

/** The providers' own list. The simulators keep the last 500 requests only. */
const providersList = new Set<Received>();

function readProvidersList(): readonly Received[] {
  for (const each of simulation.received) providersList.add(each);
  return [...providersList];
}

const skew = new AsyncLocalStorage<number>();
const realNow = Date.now.bind(Date);
let offset = 0;

beforeEach(() => {
  jest.spyOn(Date, 'now').mockImplementation(() => realNow() + offset + (skew.getStore() ?? 0));
});

/** From now on it is two seconds before midnight, and the providers know no task. */
function begin(): void {
  simulation.reset();
  providersList.clear();
  const dayMs = 1440 * minuteMs;
  offset = Math.ceil(realNow() / dayMs) * dayMs - 2000 - realNow();
}

const limits = { credits_per_day: 160, tasks_per_day: 3, requests_per_minute: 0 } satisfies Limits;
/** So little that most calls are rejected. */
const tightLimits = { ...limits, credits_per_day: 80, tasks_per_day: 1 };
const limitsOf = new Map<string, Limits>();

test('adds up a quarter of an hour after any chaos, and never passes a limit', async () => {
  const values = fc.record({
    calls: fc.array(paidCall, { minLength: 6, maxLength: 6 }),
    wrong: fc.array(fc.constantFrom(...misbehaviors), { maxLength: 4 }),
    sweepStrikes: fc.oneof(fc.constant([]), strikes),
  });
  await check(
    values,
    async ({ calls, wrong, sweepStrikes }) => {
      begin();
      const users = await Promise.all([limits, tightLimits].map(newCaller));
      for (const misbehavior of wrong) simulation.misbehave(misbehavior);
      const watching = watch(users);
      await Promise.all(calls.map((each) => skew.run(skews[each.machine] ?? 0, () => send(users, each))));
      await watching.stop();

      await lateCalls();
      for (const user of users) await verifyErrsHigh(user);
      // A sweep that dies leaves the rest to the next one.
      await underPlan(planOf(sweepStrikes), () => sweepAfter(14)).catch(() => count('sweeps that died'));
      await sweepAfter(16);
      for (const user of users) await verify(user);
    },
    { weight: 2 },
  );

  expect(counts['records taken']).toBeGreaterThan(0);
  console.info(counts);
});

/** Before anything is swept, an account counts at least what its ledger does. */
async function verifyErrsHigh(user: string): Promise<void> {
  const counted = new Map(sumsOf(await accountOf(user)).map(([day, credits]) => [day, credits]));
  for (const [day, own] of Map.groupBy(await usageOf(user), ({ at }) => at.slice(0, 10))) {
    const ledger = sumOf(own.map(({ credits }) => credits));
    assert.ok(
      (counted.get(day) ?? 0) >= ledger,
      `the account counts too little: ${counted.get(day)} of ${ledger}`,
    );
  }
}

async function newCaller(own: Limits): Promise<string> {
  const user = `chaos-${randomUUID()}`;
  limitsOf.set(user, own);
  await setLimits({ operator: 'admin' }, `user:${user}`, own);
  return user;
}

async function send(
  users: readonly string[],
  { operation, caller, hasKey, strikes: own }: PaidCall,
): Promise<void> {
  const user = String(users[caller]);
  // It names its caller to the provider.
  const field = operation === 'relight-image' ? 'prompt' : 'payload';
  const body = { ...sampleBody(operation), [field]: user };
  const headers = { authorization: bearer(user), ...(hasKey && { 'idempotency-key': randomUUID() }) };
  // Each key is used twice: what is answered the second time must have been bought once.
  for (const plan of hasKey ? [own, []] : [own]) {
    const work = () => callEndpoint(operation, { headers, body, remainingMs: 20_000 });
    const { status, body: reply } = await underPlan(planOf(plan), work);
    count('calls');
    count(`answers ${status} ${reply.error ?? ''}`.trim());
  }
}

/** Reads the accounts all the time, and fails if one has passed a limit. */
function watch(users: readonly string[]): { stop: () => Promise<void> } {
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      for (const user of users) {
        const { credits_per_day, tasks_per_day } = limitsOf.get(user) ?? limits;
        for (const [day, credits, tasks] of sumsOf(await accountOf(user))) {
          assert.ok(credits <= credits_per_day, `${credits} credits on ${day}`);
          assert.ok(tasks <= tasks_per_day, `${tasks} tasks on ${day}`);
        }
      }
      count('looks at the accounts');
      await pause(5);
    }
  })();
  return {
    stop: () => {
      isOver = true;
      return watching;
    },
  };
}

async function verify(user: string): Promise<void> {
  const account = await accountOf(user);
  assert.deepEqual(account ? openReservations(account) : [], [], 'an entry is open');
  const records = await usageOf(user);
  for (const { payment } of records) count(`records ${payment}`);
  const byDay = Map.groupBy(records, ({ at }) => at.slice(0, 10));
  const counted = new Map(sumsOf(account).map(([name, ...sums]) => [name, sums]));
  for (const name of new Set([...byDay.keys(), ...counted.keys()])) {
    const own = byDay.get(name) ?? [];
    const ledger = [
      sumOf(own.map(({ credits }) => credits)),
      own.filter(({ payment }) => payment !== 'rejected').length,
    ];
    assert.deepEqual(counted.get(name) ?? [0, 0], ledger, `the account and the ledger of ${name}`);
    const { credits_per_day } = limitsOf.get(user) ?? limits;
    assert.ok(Number(ledger[0]) <= credits_per_day, 'the ledger is above the limit');
    count('days with records');
  }
  const tasks = readProvidersList().filter(
    ({ taskId, body }) => taskId !== undefined && [body.payload, body.prompt].includes(user),
  );
  for (const { provider } of tasks) count(`tasks of the ${provider} provider`);
  verifyTasks(records, tasks);
}

/** One record for each task of the provider's list, at its price; only what is unknown may have no id. */
function verifyTasks(records: readonly AttemptRecord[], tasks: readonly Received[]): void {
  // By the simulators' own prices, which share nothing with lib.
  const creditsOf = ({ provider, body }: Received) =>
    (provider === 'image' ? imageFormat : videoFormat).creditsOf(body);
  const priced = new Map(tasks.map((task) => [String(task.taskId), creditsOf(task)]));
  assert.ok(!records.some(({ payment }) => payment === 'sent'), 'a record is open');
  for (const { payment, task_id, credits, is_exact } of records) {
    if (payment === 'rejected' || task_id === undefined) continue;
    const price = priced.get(task_id);
    assert.ok(price !== undefined, `a record of the task ${task_id}, which is not the provider's, or twice`);
    assert.ok(is_exact ? credits === price : credits >= price, `${credits} credits recorded of ${price}`);
    priced.delete(task_id);
  }
  const unnamed = records.filter(({ payment, task_id }) => payment === 'unknown' && task_id === undefined);
  assert.ok(priced.size <= unnamed.length, `${priced.size} tasks without a record`);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
