import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { type MeteredCall, startMeter } from '../../tools/local/dynamodb-meter.ts';
import { unitsPerSecond } from '../../tools/local/dynamodb-units.ts';
import { noon, startAtNoon, stopDate } from '@node-registry/testing/clock';
import { untilEnd } from '../support/serve.ts';
import { runsOf } from '@node-registry/testing/property-runs';

/* What one caller's tasks take of a store that throttles as DynamoDB does; tests/capacity.test.ts counts what they cost. */

/** The part of the real limits, and of 600 tasks a second, that the embedded servers of a busy machine can pass. */
const scale = 100;
let calls: MeteredCall[] = [];

// Before the client is made, which reads the address once.
const meter = untilEnd(
  await startMeter(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), {
    limits: { reads: unitsPerSecond.reads / scale, writes: unitsPerSecond.writes / scale },
    onCall: () => (call) => void calls.push(call),
  }),
);
meter.state.isEnforced = false;
process.env.AWS_ENDPOINT_URL_DYNAMODB = meter.url;
const { misbehave, simulation } = await import('../support/proxies.ts');
const { pathOf } = await import('../support/relay.ts');
const { accountOf, attemptOf, countersOf, pay, spender, sweepAfter, usageOf } = await import(
  '../support/spending.ts'
);
const { say } = await import('../support/notified.ts');
const { reserve } = await import('../../lib/attempts/reserve.ts');

test.each([
  [29, 1],
  [72, 2],
  [199, 5],
])('with %i other attempts open, bills %i units for each write of their account', async (others, units) => {
  stopDate(noon());
  const user = `a-caller-of-tests-${randomUUID()}`;
  for (let open = 0; open < others; open += 1)
    await reserve({ deadline: Date.now() + 5000 }, attemptOf(user));
  calls = [];
  await pay(user);

  expect(unitsOfAccount()).toEqual([units, units]);
});

/** Of each write, without what the index takes when an account is listed. */
function unitsOfAccount(): number[] {
  return calls.flatMap(({ targets: [first], writes, indexWrites }) =>
    first?.target.sort === 'ACCOUNT' && writes > 0 ? [writes - indexWrites] : [],
  );
}

/** What each partition has taken since the calls were forgotten. */
function unitsOfPartitions() {
  const targets = calls.filter(({ writes }) => writes > 0).flatMap((call) => call.targets);
  return [...Map.groupBy(targets, ({ target }) => target.partition)].map(([partition, all]) => ({
    kind: partition.split('#')[0],
    partition,
    units: all.reduce((sum, { units }) => sum + units, 0),
  }));
}

/** Tells the service that a task has ended. */
async function notifyEnd(taskId: string): Promise<void> {
  const task = simulation.received.find((each) => each.taskId === taskId);
  const path = pathOf(task?.body.callback_url);
  // A provider says it again if it was not heard.
  for (let status = 0; status !== 200; ) status = (await say(path, { state: 'success' })).status;
}

test('a caller at the limit of its account loses no task and leaks nothing, with a fifth more tasks, each notified', async () => {
  startAtNoon();
  const seconds = runsOf(1) >= 1000 ? 15 : 4;
  // Two writes of the account each.
  const perSecond = (1.2 * unitsPerSecond.writes) / scale / 2;
  const user = await spender({ credits_per_day: 10_000_000 });
  simulation.reset();
  misbehave({ kind: 'delay', ms: 2000, times: seconds * perSecond });
  calls = [];
  meter.state.isEnforced = true;
  const statuses = await Promise.all(
    Array.from({ length: seconds * perSecond }, async (_, index) => {
      await pause((index * 1000) / perSecond);
      const { status, body } = await pay(user);
      if (status === 200) await notifyEnd(String(body.task_id));
      return status;
    }),
  );
  meter.state.isEnforced = false;
  const taken = simulation.received.filter(({ taskId }) => taskId !== undefined);
  await sweepAfter(14);
  const records = await usageOf(user);

  // On a slow machine, as many calls may be in flight as an account has room for.
  expect(Math.max(...unitsOfAccount())).toBeLessThanOrEqual(5);
  // However slow the machine: no partition takes more of a task than the account, which so bounds a caller alone.
  const units = unitsOfPartitions();
  const ofAccount = Math.max(...units.filter(({ kind }) => kind === 'CALLER').map((each) => each.units));
  expect(units.filter((each) => each.units > ofAccount)).toEqual([]);
  // And one record for each of the provider's tasks, and the account says what they say.
  const ledger = records.filter(({ payment }) => payment !== 'rejected');
  const known = ledger.flatMap(({ task_id }) => task_id ?? []);
  expect(taken.length).toBeGreaterThan(0);
  expect(ledger).toHaveLength(taken.length);
  expect(new Set(known).size).toBe(known.length);
  const ended = ledger.filter(({ final_state }) => final_state === 'success');
  expect(ended).toHaveLength(statuses.filter((status) => status === 200).length);
  expect(known.filter((id) => !taken.some(({ taskId }) => taskId === id))).toEqual([]);
  expect(countersOf(await accountOf(user))).toMatchObject({
    credits: ledger.reduce((sum, { credits }) => sum + credits, 0),
    tasks: ledger.length,
  });
});
