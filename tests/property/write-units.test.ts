import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { type MeteredCall, startMeter } from '../../tools/local/dynamodb-meter.ts';
import { unitsPerSecond } from '../../tools/local/dynamodb-units.ts';
import { runsOf } from '../support/property-runs.ts';

/* What one caller's tasks take of a store that throttles as DynamoDB does; tests/capacity.test.ts counts what they cost. */

/** Of the real limits: what the embedded servers of a busy machine can pass. */
const scale = 100;
let calls: MeteredCall[] = [];

// Before the client is made, which reads the address once.
const meter = await startMeter(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), {
  limits: { reads: unitsPerSecond.reads / scale, writes: unitsPerSecond.writes / scale },
  onCall: () => (call) => void calls.push(call),
});
meter.state.isEnforced = false;
process.env.AWS_ENDPOINT_URL_DYNAMODB = meter.url;
const { misbehave, simulation } = await import('../support/proxies.ts');
const { accountOf, countersOf, openOf, pay, spender, sweepAfter, usageOf } = await import(
  '../support/spending.ts'
);

afterAll(() => meter.stop());

test('bills one unit for each write of an account with eight open minutes', async () => {
  const user = await spender({
    credits_per_day: 1_000_000,
    tasks_per_day: 10_000,
    requests_per_minute: 10_000,
  });
  // The function learns the caller's limits, and the sweep is told of the account.
  await pay(user);
  const start = Date.now();
  calls = [];
  for (let minute = 0; minute < 8; minute += 1) {
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => start + minute * 60_000);
    await pay(user);
    clock.mockRestore();
  }
  const writes = calls.filter(({ targets: [first] }) => first?.target.sort === 'ACCOUNT');

  expect(writes).toHaveLength(16);
  expect(new Set(writes.map((call) => call.writes))).toEqual(new Set([1]));
});

describe('a caller at the limit of its item', () => {
  test('loses no task and leaks nothing, with 6 tasks a second on an item that takes 10 writes', async () => {
    const seconds = runsOf(1) >= 1000 ? 15 : 8;
    // Two writes of the account each, and a fifth more than the item takes.
    const perSecond = (1.2 * unitsPerSecond.writes) / scale / 2;
    const user = await spender({ credits_per_day: 10_000_000 });
    simulation.reset();
    misbehave({ kind: 'delay', ms: 2000, times: seconds * perSecond });
    meter.state.isEnforced = true;
    const answers = await Promise.all(
      Array.from({ length: seconds * perSecond }, async (_, index) => {
        await pause((index * 1000) / perSecond);
        return pay(user);
      }),
    );
    meter.state.isEnforced = false;
    const taken = simulation.received.filter(({ taskId }) => taskId !== undefined);
    const statuses = Object.fromEntries(
      [...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]),
    );
    const before = openOf(await accountOf(user));
    await sweepAfter(6);
    const records = await usageOf(user);
    console.info({
      tasks: answers.length,
      statuses,
      throttled: meter.state.throttled,
      'not settled': before.running,
    });

    expect(meter.state.throttled).toBeGreaterThan(0);
    // However slow the machine: one record for each of the provider's tasks, and the account says what they say.
    const ledger = records.filter(({ state }) => state !== 'refused');
    const known = ledger.flatMap(({ task_id }) => task_id ?? []);
    expect(taken.length).toBeGreaterThan(0);
    expect(ledger).toHaveLength(taken.length);
    expect(new Set(known).size).toBe(known.length);
    expect(known.filter((id) => !taken.some(({ taskId }) => taskId === id))).toEqual([]);
    expect(countersOf(await accountOf(user))).toEqual({
      credits: ledger.reduce((sum, { credits }) => sum + credits, 0),
      tasks: ledger.length,
    });
  }, 180_000);
});
