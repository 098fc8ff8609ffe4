import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { accountRecord, holdsOf, keyOfAccount } from '../../lib/spend/account.ts';
import type { Limits } from '../../lib/spend/limits.ts';
import { sweepHolds } from '../../lib/spend/sweep-holds.ts';
import type { UsageRecord } from '../../lib/spend/usage-records.ts';
import { get } from '../../lib/store/read.ts';
import { setLimits } from '../../packages/admin/spend/terms.ts';
import { listUsage } from '../../packages/admin/spend/usage.ts';
import { imageFormat } from '../simulators/image-format.ts';
import type { Misbehavior } from '../simulators/misbehaviors.ts';
import type { Received } from '../simulators/simulation.ts';
import { videoFormat } from '../simulators/video-format.ts';
import { type CheckOptions, CheckRun } from './check.ts';
import { strikesIn } from './faults.ts';
import type { Harness } from './harness.ts';
import type { Report } from './report.ts';
import { injectFaults, planOf, type Strike, underPlan } from './wire-faults.ts';

const runs = { short: 30, usual: 600, long: 3000 };
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

/** Nobody spends more than they may, and every credit is accounted for, whatever fails. */
export async function checkSpending(options: CheckOptions): Promise<Report> {
  const run = new CheckRun(options);
  const { harness, length } = options;
  const faults = await injectFaults();
  try {
    await run.property({
      name: 'spending/faults',
      runs: runs[length],
      values: fc.record({
        credits_per_day: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 400 })),
        tasks_per_day: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 6 })),
        calls: fc.array(paidCall, { minLength: 1, maxLength: 10 }),
        wrong: fc.array(fc.constantFrom(...misbehaviors), { maxLength: 6 }),
      }),
      holds: async ({ calls, wrong, ...limits }) => {
        harness.simulation.reset();
        for (const misbehavior of wrong) harness.simulation.misbehave(misbehavior);
        const user = await newCaller(limits);
        await Promise.all(calls.map((call) => send(run.report, harness, user, call)));
        await verifyAccounts(run.report, harness, [{ user, limits }]);
      },
    });
    await run.property({
      name: 'spending/crowd',
      runs: { short: 1, usual: 3, long: 10 }[length],
      values: fc.record({ credits_per_day: fc.integer({ min: 100, max: 900 }) }),
      holds: (limits) => checkCrowd(run, { ...limits, tasks_per_day: 0 }),
    });
  } finally {
    faults.stop();
  }
  return run.report;
}

type SetLimits = Pick<Limits, 'credits_per_day' | 'tasks_per_day'>;

/** 64 parallel calls on one budget, and 8 on each of 40 others; in the short form, 4 on each of 5. */
async function checkCrowd({ report, options }: CheckRun, limits: SetLimits): Promise<void> {
  const { harness, length } = options;
  const [others, each] = length === 'short' ? [5, 4] : [40, 8];
  harness.simulation.reset();
  const call = { operation: 'text-to-video', hasKey: false, strikes: [] } as const;
  const users = await Promise.all(Array.from({ length: 1 + others }, () => newCaller(limits)));
  const times = users.flatMap((user, index) => Array.from({ length: index === 0 ? 64 : each }, () => user));
  await Promise.all(times.map((user) => send(report, harness, user, call)));
  await verifyAccounts(
    report,
    harness,
    users.map((user) => ({ user, limits })),
  );
}

async function newCaller(limits: SetLimits): Promise<string> {
  const user = `spender-${randomUUID()}`;
  await setLimits(`user:${user}`, limits);
  return user;
}

async function send(report: Report, harness: Harness, user: string, paidCall: PaidCall): Promise<void> {
  const { operation, hasKey, strikes } = paidCall;
  const body = JSON.parse(String(harness.sample(operation).body));
  const headers = {
    authorization: harness.bearer(user),
    ...(hasKey && { 'idempotency-key': randomUUID() }),
  };
  const named = { ...body, ...(operation === 'relight-image' ? { prompt: user } : { payload: user }) };
  const request = { headers, body: named, remainingMs };
  const answer = await underPlan(planOf(strikes), () => harness.call(operation, request));
  report.count(`answers ${answer.status} ${answer.body.error ?? ''}`.trim());
}

async function verifyAccounts(
  report: Report,
  { simulation }: Harness,
  spenders: readonly { user: string; limits: SetLimits }[],
): Promise<void> {
  const sweptFrom = Date.now() + 60 * 60 * 1000;
  const swept = await sweepHolds({ deadline: Date.now() + 10_000 }, sweptFrom);
  for (const { finding } of swept) report.count(`holds ${finding}`);
  for (const { user, limits } of spenders) {
    const ledger = simulation.received.filter(
      ({ taskId, body }) => taskId !== undefined && [body.payload, body.prompt].includes(user),
    );
    await verifyAccount(report, user, limits, ledger);
  }
}

async function verifyAccount(
  report: Report,
  user: string,
  limits: SetLimits,
  ledger: readonly Received[],
): Promise<void> {
  const caller = `user:${user}`;
  const account = accountRecord((await get({ deadline: Date.now() + 5000 }, keyOfAccount(caller)))[0]);
  const today = new Date().toISOString().slice(0, 10);
  const records = await listUsage({ from: yesterdayOf(today), to: today, caller });
  const spent = sumOf(ledger.map(creditsOf));
  report.count('tasks', ledger.length);
  for (const { state } of records) report.count(`records ${state}`);

  if (limits.credits_per_day > 0)
    assert.ok(spent <= limits.credits_per_day, `${spent} credits of ${limits.credits_per_day}`);
  if (limits.tasks_per_day > 0) assert.ok(ledger.length <= limits.tasks_per_day, 'too many tasks');
  assert.deepEqual(account ? holdsOf(account) : [], [], 'a hold is left after the sweep');
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
