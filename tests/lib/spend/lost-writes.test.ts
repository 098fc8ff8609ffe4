import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Misbehavior } from '../../../tools/simulators/misbehaviors.ts';
import { acceptedTasks, misbehave, simulation } from '../../support/proxies.ts';
import { runsOf } from 'testing/property-runs';
import { accountOf, countersOf, openOf, pay, spender, sweepAfter, usageOf } from '../../support/spending.ts';
import { type FaultKind, injectFaults, lateCalls, planOf, underPlan } from '../../support/wire-faults.ts';

/*
 * A paid request whose call to the store is lost, late, throttled or the last one of its invocation, at each of its
 * calls. At every moment the account counts at least what the usage records say, and after the sweep exactly that. A
 * repeated request with the same key starts no second task.
 */

let faults: { stop: () => void };

beforeAll(async () => {
  faults = await injectFaults();
});

afterAll(() => faults.stop());

const kinds: FaultKind[] = ['throttle', 'drop before', 'drop after', 'late', 'garbage', 'die'];
/** What is paid for, and how many calls it makes at least, so that none of them is left out. */
const requests = [
  { hasKey: true, result: 'taken', calls: 9 },
  { hasKey: true, result: 'unknown', calls: 9 },
  { hasKey: false, result: 'taken', calls: 6 },
  { hasKey: false, result: 'refused', calls: 6 },
] as const;
const misbehaviors = {
  taken: undefined,
  unknown: { kind: 'reset' },
  refused: { kind: 'status', status: 422 },
} as const;
/** In the gate, what may have been carried out unseen meets a key, and what was not, a request without one. */
const isLong = runsOf(1) >= 100;
const inGate = (kind: FaultKind, { hasKey }: { hasKey: boolean }) =>
  ['drop after', 'late', 'die'].includes(kind) === hasKey;
/** More than any of them makes. */
const maxCalls = 12;

/** What is lost is sent again up to three times where that is safe, and lost again; a throttle ends. */
function repeats(kind: FaultKind): number {
  return kind === 'throttle' || kind === 'die' ? 1 : 6;
}

describe('an account', () => {
  test.each(
    kinds.flatMap((kind) =>
      requests.filter((request) => isLong || inGate(kind, request)).map((request) => ({ kind, ...request })),
    ),
  )(
    'counts at least its records, and exactly those after the sweep: $kind at each call, with a key $hasKey, $result',
    async ({ kind, hasKey, result, calls }) => {
      const users: string[] = [];
      let isStruck = true;
      while (isStruck) {
        expect(users.length).toBeLessThan(maxCalls);
        const user = await spender({ credits_per_day: 1000 });
        isStruck = await payWith(kind, users.length + 1, user, hasKey, misbehaviors[result]);
        users.push(user);
      }
      expect(users.length).toBeGreaterThan(calls);

      await sweepAfter(6);
      const accounts = await Promise.all(users.map((user) => Promise.all([usageOf(user), accountOf(user)])));
      for (const [index, [ended, account]] of accounts.entries()) {
        const counted = countersOf(account);
        const tasks = ended.filter(({ state }) => state !== 'refused').length;
        const credits = ended.reduce((sum, { credits }) => sum + credits, 0);
        expect(ended.map(({ state }) => state)).not.toContain('reserved');
        expect([index + 1, counted.credits ?? 0, counted.tasks ?? 0]).toEqual([index + 1, credits, tasks]);
      }
    },
  );
});

/** Pays with one call that fails in this way. Returns whether the request made so many calls. */
async function payWith(
  kind: FaultKind,
  at: number,
  user: string,
  hasKey: boolean,
  misbehavior: Misbehavior | undefined,
): Promise<boolean> {
  simulation.reset();
  if (misbehavior) misbehave(misbehavior);
  const headers = hasKey ? { 'idempotency-key': randomUUID() } : {};
  const strikes = Array.from({ length: repeats(kind) }, (_, more) => ({ at: at + more, kind, lasts: true }));
  const plan = planOf(strikes);
  await underPlan(plan, () => pay(user, 'text-to-video', { headers }));
  await lateCalls();

  const [records, account] = await Promise.all([usageOf(user), accountOf(user)]);
  const recorded = records.reduce((sum, { credits }) => sum + credits, 0);
  const open = openOf(account);
  const tasks = acceptedTasks();
  expect(open.credits ?? 0).toBeGreaterThanOrEqual(recorded);
  expect(open.credits ?? 0).toBeLessThanOrEqual(74);
  expect(records.filter(({ state }) => state !== 'refused').length).toBeGreaterThanOrEqual(tasks);
  if (hasKey) {
    await Promise.all(Array.from({ length: 3 }, () => pay(user, 'text-to-video', { headers })));
    expect(acceptedTasks()).toBeLessThanOrEqual(1);
  }
  return plan.struck.length > 0;
}
