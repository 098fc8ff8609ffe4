import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, test } from '@jest/globals';
import { type MeteredCall, startMeter } from '../../tools/local/dynamodb-meter.ts';
import { unitsPerSecond } from '../../tools/local/dynamodb-units.ts';
import { noon, startAtNoon, stopDate } from 'testing/clock';
import { type Host, startFunctionProcess } from '../support/function-process.ts';
import { sampleEvent } from '../support/invoke.ts';
import { runsOf } from 'testing/property-runs';
import { bearer } from '../support/tokens.ts';

/* What one caller's tasks take of a store that throttles as DynamoDB does; tests/capacity.test.ts counts what they cost. */

/**
 * The part of the real limits, and of 600 tasks a second, that the embedded servers of a busy machine can pass.
 * `CALLER_SCALE=10` is for a quiet one; the functions then run in processes of their own.
 */
const scale = Number(process.env.CALLER_SCALE ?? 100);
const processes = scale < 100 ? 4 : 0;
let calls: MeteredCall[] = [];

// Before the client is made, which reads the address once.
const meter = await startMeter(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), {
  limits: { reads: unitsPerSecond.reads / scale, writes: unitsPerSecond.writes / scale },
  onCall: () => (call) => void calls.push(call),
});
meter.state.isEnforced = false;
process.env.AWS_ENDPOINT_URL_DYNAMODB = meter.url;
const { misbehave, simulation } = await import('../support/proxies.ts');
const { pathOf } = await import('../support/relay.ts');
const { accountOf, countersOf, openOf, pay, spender, sweepAfter, usageOf } = await import(
  '../support/spending.ts'
);
const { say } = await import('../support/notified.ts');

afterAll(() => meter.stop());

test('bills one unit for each write of an account with eight open minutes', async () => {
  stopDate(noon());
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
    stopDate(start + minute * 60_000);
    await pay(user);
  }

  expect(unitsOfAccount()).toEqual(Array(16).fill(1));
});

/** Of each write, without what the index takes when an account is listed. */
function unitsOfAccount(): number[] {
  return calls.flatMap(({ targets: [first], writes, indexWrites }) =>
    first?.target.sort === 'ACCOUNT' && writes > 0 ? [writes - indexWrites] : [],
  );
}

/** The calls that had to wait, by the kind of record. */
function kindsThrottled() {
  return [...Map.groupBy(meter.state.throttled, (partition) => partition.split('#')[0])];
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

interface Answer {
  status: number | undefined;
  taskId: string;
}

/** A paid call, in a process of its own if there is one. */
async function payThrough(host: Host | undefined, user: string): Promise<Answer> {
  if (!host) {
    const { status, body } = await pay(user);
    return { status, taskId: String(body.task_id) };
  }
  const event = sampleEvent('text-to-video');
  const headers = { ...event.headers, authorization: bearer(user) };
  const reply = await host.call('text-to-video', { ...event, headers }, 29_000);
  return { status: reply?.statusCode, taskId: String(JSON.parse(reply?.body ?? '{}').task_id) };
}

/** Tells the service that a task has ended. */
async function notifyEnd(taskId: string): Promise<void> {
  const task = simulation.received.find((each) => each.taskId === taskId);
  const path = pathOf(task?.body.callback_url);
  // A provider says it again if it was not heard.
  for (let status = 0; status !== 200; ) status = (await say(path, { state: 'success' })).status;
}

describe('a caller at the limit of its account', () => {
  test('loses no task and leaks nothing, with a fifth more tasks than its account takes, each notified', async () => {
    const clockOffset = noon() - Date.now();
    startAtNoon();
    const seconds = runsOf(1) >= 1000 ? 15 : 8;
    // Two writes of the account each.
    const perSecond = (1.2 * unitsPerSecond.writes) / scale / 2;
    const user = await spender({ credits_per_day: 10_000_000 });
    simulation.reset();
    misbehave({ kind: 'delay', ms: 2000, times: seconds * perSecond });
    const hosts = await Promise.all(
      Array.from({ length: processes }, () =>
        startFunctionProcess(['text-to-video'], process.env, clockOffset),
      ),
    );
    calls = [];
    meter.state.isEnforced = true;
    const answers = await Promise.all(
      Array.from({ length: seconds * perSecond }, async (_, index) => {
        await pause((index * 1000) / perSecond);
        const answer = await payThrough(hosts[index % hosts.length], user);
        if (answer.status === 200) await notifyEnd(answer.taskId);
        return answer.status;
      }),
    );
    meter.state.isEnforced = false;
    await Promise.all(hosts.map((host) => host.stop()));
    const taken = simulation.received.filter(({ taskId }) => taskId !== undefined);
    const statuses = Object.fromEntries(
      [...Map.groupBy(answers, (status) => status)].map(([status, all]) => [status, all.length]),
    );
    const before = openOf(await accountOf(user));
    await sweepAfter(6);
    const records = await usageOf(user);
    console.info({
      'tasks a second': perSecond,
      'writes a second of an item': unitsPerSecond.writes / scale,
      tasks: answers.length,
      statuses,
      throttled: Object.fromEntries(kindsThrottled().map(([kind, all]) => [kind, all.length])),
      'not settled': before.running,
    });

    // However many of its calls are in flight.
    expect(new Set(unitsOfAccount())).toEqual(new Set([1]));
    // However slow the machine: no partition takes more of a task than the account, which so bounds a caller alone.
    const units = unitsOfPartitions();
    const ofAccount = Math.max(...units.filter(({ kind }) => kind === 'CALLER').map((each) => each.units));
    expect(units.filter((each) => each.units > ofAccount)).toEqual([]);
    // However slow the machine: one record for each of the provider's tasks, and the account says what they say.
    const ledger = records.filter(({ state }) => state !== 'refused');
    const known = ledger.flatMap(({ task_id }) => task_id ?? []);
    expect(taken.length).toBeGreaterThan(0);
    expect(ledger).toHaveLength(taken.length);
    expect(new Set(known).size).toBe(known.length);
    const ended = ledger.filter(({ final_state }) => final_state === 'success');
    expect(ended).toHaveLength(answers.filter((status) => status === 200).length);
    expect(known.filter((id) => !taken.some(({ taskId }) => taskId === id))).toEqual([]);
    expect(countersOf(await accountOf(user))).toEqual({
      credits: ledger.reduce((sum, { credits }) => sum + credits, 0),
      tasks: ledger.length,
    });
  });
});
