import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { fc } from '@node-registry/testing/properties';
import { check, count, counts } from '@node-registry/testing/property-runs';
import { visitAccount } from '../../lib/attempts/visit.ts';
import { setLimits } from '../../tools/admin/spend/limits.ts';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import { call as callEndpoint } from '../support/endpoints.ts';
import { sampleBody } from '../support/invoke.ts';
import { simulation } from '../support/proxies.ts';
import '../support/queue.ts';
import { accountOf, sumsOf, usageOf } from '../support/spending.ts';
import { bearer } from '../support/tokens.ts';
import { faultKinds, lateCalls, planOf, type Strike, strikesIn, underPlan } from '../support/wire-faults.ts';

/*
 * One caller's calls with few keys, some of them struck, on machines whose clocks differ by up to ten minutes. Visits run
 * all the time, also by such clocks, while the time goes on between the calls: so what earlier calls left is ended while
 * later ones live.
 */

const minuteMs = 60_000;
const skews = [-5, -1, 0, 2, 5].map((minutes) => minutes * minuteMs);
const wrong: readonly Misbehavior[] = [
  { kind: 'status', status: 400 },
  { kind: 'status', status: 500, accepted: true },
  { kind: 'reset' },
  { kind: 'reply', without: ['task_id'] },
  { kind: 'delay', ms: 40 },
];

interface PaidCall {
  strikes: readonly Strike[];
  key: number | undefined;
  machine: number;
  reply: Misbehavior | undefined;
}

const paidCall: fc.Arbitrary<PaidCall> = fc.record({
  strikes: fc.oneof(fc.constant([]), strikesIn(8, [...faultKinds, 'late'])),
  key: fc.option(fc.nat(3), { nil: undefined }),
  machine: fc.nat(skews.length - 1),
  reply: fc.oneof(fc.constant(undefined), fc.constantFrom(...wrong)),
});
const round = fc.record({
  calls: fc.array(paidCall, { minLength: 4, maxLength: 4 }),
  minutesBefore: fc.constantFrom(0, 4, 11, 13),
});

const skew = new AsyncLocalStorage<number>();
const realNow = Date.now.bind(Date);
let offset = 0;

beforeEach(() => {
  jest.spyOn(Date, 'now').mockImplementation(() => realNow() + offset + (skew.getStore() ?? 0));
});

/** The ceiling of the sample is 74. */
const limits = { credits_per_day: 420, tasks_per_day: 0, requests_per_minute: 0 };

test('buys once for each key, keeps the limit, and ends equal to its attempts', async () => {
  await check(
    fc.array(round, { minLength: 4, maxLength: 4 }),
    async (rounds) => {
      simulation.reset();
      offset = Math.ceil(realNow() / 86_400_000) * 86_400_000 - 20 * minuteMs - realNow();
      const user = `attempts-${randomUUID()}`;
      await setLimits({ operator: 'admin' }, `user:${user}`, limits);
      const visits = keepVisiting(user);
      const taken: string[] = [];
      for (const { calls, minutesBefore } of rounds) {
        offset += minutesBefore * minuteMs;
        await Promise.all(
          calls.map((each) => skew.run(skews[each.machine] ?? 0, () => buy(user, each, taken))),
        );
      }
      await visits.stop();
      await lateCalls();

      await verify(user, (counted, recorded) => counted >= recorded);
      for (let times = 0; times < 2; times += 1) await visitOf(user, 30);
      const account = await verify(user, (counted, recorded) => counted === recorded);
      assert.deepEqual([account?.open ?? 0, account?.pending_shard], [0, undefined], 'an entry is open');
      const records = await usageOf(user);
      for (const id of taken)
        assert.equal(records.find(({ task_id }) => task_id === id)?.payment, 'taken', `the task ${id}`);
      const bought = simulation.received.flatMap(({ taskId, body }) =>
        taskId !== undefined && String(body.prompt).startsWith('key ') ? [String(body.prompt)] : [],
      );
      assert.equal(new Set(bought).size, bought.length, 'a key bought twice');
    },
    { weight: 0.5 },
  );

  expect(counts['calls struck']).toBeGreaterThan(0);
  console.info(counts);
});

async function buy(user: string, { strikes, key, reply }: PaidCall, taken: string[]): Promise<void> {
  const name = key === undefined ? `none ${randomUUID()}` : `key ${key}`;
  const headers = {
    authorization: bearer(user),
    ...(key !== undefined && { 'idempotency-key': name.replace(' ', '-') }),
  };
  if (reply) simulation.misbehave(reply);
  const work = () =>
    callEndpoint('text-to-video', {
      headers,
      body: { ...sampleBody('text-to-video'), prompt: name },
      remainingMs: 20_000,
    });
  const plan = planOf(strikes);
  const { status, headers: given, body } = await underPlan(plan, work);
  count(plan.struck.length > 0 ? 'calls struck' : 'calls');
  count(`answers ${status} ${given['idempotent-replayed'] ? 'replayed' : (body.error ?? '')}`.trim());
  if (status === 200 && plan.struck.length === 0 && !given['idempotent-replayed']) taken.push(body.task_id);
}

async function visitOf(user: string, minutes = 0): Promise<void> {
  const account = await accountOf(user);
  if (account?.pending_since === undefined) return count('visits: not due');
  const now = Date.now() + minutes * minuteMs;
  const outcome = await visitAccount({ deadline: Date.now() + 10 * minuteMs }, account, now);
  count(`visits: ${outcome}`);
}

/** By the clocks of all machines in turn. The account stays within its limit. */
function keepVisiting(user: string): { stop: () => Promise<void> } {
  let isOver = false;
  const visiting = (async () => {
    for (let times = 0; !isOver; times += 1) {
      await skew.run(skews[times % skews.length] ?? 0, () => visitOf(user));
      for (const [day, credits] of sumsOf(await accountOf(user)))
        assert.ok(credits <= limits.credits_per_day, `${credits} credits on ${day}`);
      await pause(3);
    }
  })();
  return {
    stop: () => {
      isOver = true;
      return visiting;
    },
  };
}

async function verify(user: string, holds: (counted: number, recorded: number) => boolean) {
  const [account, records] = [await accountOf(user), await usageOf(user)];
  const byDay = Map.groupBy(records, ({ at }) => at.slice(0, 10));
  const sums = new Map(sumsOf(account).map(([day, credits]) => [day, credits]));
  for (const day of new Set([...byDay.keys(), ...sums.keys()])) {
    const counted = sums.get(day) ?? 0;
    const recorded = (byDay.get(day) ?? []).reduce((sum, { credits }) => sum + credits, 0);
    assert.ok(holds(counted, recorded), `the account counts ${counted} on ${day}, its attempts ${recorded}`);
  }
  return account;
}
