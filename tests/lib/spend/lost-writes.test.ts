import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { misbehave, simulation } from '../../support/proxies.ts';
import { accountOf, countersOf, openOf, pay, spender, sweepAfter, usageOf } from '../../support/spending.ts';
import { type FaultKind, injectFaults, planOf, underPlan } from '../../support/wire-faults.ts';

/*
 * A paid request whose call to the store is lost, late, throttled or the last one of its invocation, at each of its
 * calls. At every moment the account counts at least what the usage records say, and after the sweep exactly that.
 */

let faults: { stop: () => void };

beforeAll(async () => {
  faults = await injectFaults();
});

afterAll(() => faults.stop());

const kinds: FaultKind[] = ['throttle', 'drop before', 'drop after', 'late', 'garbage', 'die'];
/** More than a paid request makes, with a key and with the list of the day. */
const calls = 9;
const cases = kinds.flatMap((kind) =>
  [true, false].flatMap((hasKey) =>
    (hasKey ? ['taken'] : ['taken', 'refused']).flatMap((result) =>
      Array.from({ length: calls }, (_, index) => ({ kind, at: index + 1, hasKey, result })),
    ),
  ),
);

/** What is lost is sent again up to three times where that is safe, and lost again; a throttle ends. */
function repeats(kind: FaultKind): number {
  return kind === 'throttle' || kind === 'die' ? 1 : 6;
}

describe('an account', () => {
  test.each(cases)(
    'counts at least its records, and exactly those after the sweep: $kind at call $at, with a key $hasKey, $result',
    async ({ kind, at, hasKey, result }) => {
      const user = await spender({ credits_per_day: 1000 });
      if (result === 'refused') misbehave({ kind: 'status', status: 422 });
      const headers = hasKey ? { 'idempotency-key': randomUUID() } : {};
      const strikes = Array.from({ length: repeats(kind) }, (_, more) => ({
        at: at + more,
        kind,
        lasts: true,
      }));
      await underPlan(planOf(strikes), () => pay(user, 'text-to-video', { headers }));
      // What the store carries out late.
      if (kind === 'late') await pause(100);

      const records = await usageOf(user);
      const recorded = records.reduce((sum, { credits }) => sum + credits, 0);
      const open = openOf(await accountOf(user));
      expect(open.credits ?? 0).toBeGreaterThanOrEqual(recorded);
      expect(open.credits ?? 0).toBeLessThanOrEqual(74);
      const tasks = simulation.received.filter(({ taskId }) => taskId !== undefined).length;
      expect(records.filter(({ state }) => state !== 'refused').length).toBeGreaterThanOrEqual(tasks);

      await sweepAfter(6);
      const ended = await usageOf(user);
      expect(ended.map(({ state }) => state)).not.toContain('reserved');
      const counted = countersOf(await accountOf(user));
      expect(counted.credits ?? 0).toBe(ended.reduce((sum, { credits }) => sum + credits, 0));
      expect(counted.tasks ?? 0).toBe(ended.filter(({ state }) => state !== 'refused').length);
    },
  );
});
