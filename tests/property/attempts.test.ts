import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { fc } from '@node-registry/testing/properties';
import { check, count, counts } from '@node-registry/testing/property-runs';
import { visitAccount } from '../../lib/attempts/visit.ts';
import { setLimits } from '../../tools/admin/spend/limits.ts';
import { imageFormat } from '../../tools/simulators/image-format.ts';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import { videoFormat } from '../../tools/simulators/video-format.ts';
import { readApiDocument } from '../support/api-document.ts';
import { call as callEndpoint } from '../support/endpoints.ts';
import { type Result, sampleBody } from '../support/invoke.ts';
import { proxyNames, simulation } from '../support/proxies.ts';
import '../support/queue.ts';
import { accountOf, sumsOf, sweepAfter, usageOf } from '../support/spending.ts';
import { bearer } from '../support/tokens.ts';
import {
  type FaultPlan,
  lateCalls,
  planOf,
  type Strike,
  strikesIn,
  underPlan,
} from '../support/wire-faults.ts';

/*
 * One caller's calls with few keys, some of them struck, on machines whose clocks differ by up to ten minutes, around
 * midnight, to providers that misbehave. Visits run all the time, also by such clocks and struck, while the time goes on
 * between the calls: so what earlier calls left is ended while later ones live.
 */

/** A caller's prompts and pictures are in no line of the log, and its pictures in no error. */
const picture = Buffer.from('a picture that is private, '.repeat(8)).toString('base64');
const privateText = 'of a private life';

const minuteMs = 60_000;
const skews = [-5, -1, 0, 2, 5].map((minutes) => minutes * minuteMs);
const statuses = [204, 400, 401, 402, 404, 409, 418, 422, 429, 500, 502, 503];
/** The task may have been started. */
const unknown: readonly Misbehavior[] = [
  { kind: 'reset' },
  { kind: 'reset', stage: 'after_headers' },
  { kind: 'truncated' },
  { kind: 'oversize' },
  { kind: 'reply', without: ['task_id'] },
  { kind: 'status', status: 500, accepted: true },
];
const wrong: readonly Misbehavior[] = [
  { kind: 'html' },
  { kind: 'redirect' },
  { kind: 'numeric_ids' },
  { kind: 'reset', accepted: false },
  ...[40, 200].map((ms) => ({ kind: 'delay', ms }) as const),
  { kind: 'text', text: '{"data":{"task_id":"\\ud800"},"task_id":{},"credits":1e400}' },
  { kind: 'reply', fields: { task_id: null, credits: 'many', state: 'other', created_at: 5 } },
  ...['many', null].map((credits) => ({ kind: 'reply', fields: { credits }, provider: 'video' }) as const),
  ...statuses.map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 429, retryAfter: 0 },
  // A provider may repeat what it was sent, including our key.
  { kind: 'status', status: 400, provider: 'image', message: `bad key ${process.env.IMAGE_PROVIDER_KEY}` },
  { kind: 'status', status: 400, provider: 'video', message: `bad key ${process.env.VIDEO_PROVIDER_KEY}` },
  ...[400, 500].map((status) => ({ kind: 'status', status, message: `bad ${picture}` }) as const),
];

interface PaidCall {
  operation: string;
  strikes: readonly Strike[];
  /** Each key has an operation of its own. */
  key: number | undefined;
  machine: number;
  reply: Misbehavior | undefined;
}

const strikes = fc.oneof(fc.constant([]), strikesIn(8));
const paidCall: fc.Arbitrary<PaidCall> = fc.record({
  operation: fc.constantFrom(...proxyNames),
  strikes,
  key: fc.option(fc.nat(2), { nil: undefined }),
  machine: fc.nat(skews.length - 1),
  reply: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...unknown) },
    { weight: 1, arbitrary: fc.constantFrom(...wrong) },
  ),
});
const round = fc.record({
  calls: fc.array(paidCall, { minLength: 4, maxLength: 4 }),
  minutesBefore: fc.constantFrom(0, 4, 11, 13),
});
/** The ceiling of a film is 74: with the second ones, most calls are rejected. */
const limits = fc.constantFrom(
  { credits_per_day: 420, tasks_per_day: 10, requests_per_minute: 0 },
  { credits_per_day: 80, tasks_per_day: 2, requests_per_minute: 0 },
);
const scenario = fc.record({
  rounds: fc.array(round, { minLength: 4, maxLength: 4 }),
  limits,
  visitStrikes: strikes,
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

const skew = new AsyncLocalStorage<number>();
const realNow = Date.now.bind(Date);
let offset = 0;

beforeEach(() => {
  jest.spyOn(Date, 'now').mockImplementation(() => realNow() + offset + (skew.getStore() ?? 0));
});

const document = await readApiDocument();
const keys = [process.env.IMAGE_PROVIDER_KEY, process.env.VIDEO_PROVIDER_KEY].map(String);
const ofCallers = [privateText, picture.slice(100, 200)];
/** The lines of the log that contain a secret. */
const leaks: string[] = [];
let lastLine = '';
const write = (line: string) => {
  lastLine = line;
  if (/Bearer ey/.test(line) || [...keys, ...ofCallers].some((secret) => line.includes(secret)))
    leaks.push(line);
  return true;
};
Object.defineProperty(process, 'stdout', { value: { write }, configurable: true });

/** An answer is documented and shows no key, whatever becomes of the calls to the stores. */
function verify(operation: string, answer: Result, { struck }: FaultPlan): void {
  document.verify(operation, answer);
  // Only an unreadable answer of a store may become an unknown error.
  const isExplained = answer.status !== 500 || struck.includes('garbage');
  assert.ok(isExplained, `a fault of a store became a 500: ${struck} ${lastLine}`);
  for (const key of keys) assert.ok(!answer.text.includes(key), 'an answer shows a key');
}

test('buys once for each key, passes no limit, shows no secret, and ends equal to its attempts and its providers', async () => {
  await check(scenario, async (given) => {
    simulation.reset();
    offset = Math.ceil(realNow() / 86_400_000) * 86_400_000 - 20 * minuteMs - realNow();
    const user = `attempts-${randomUUID()}`;
    await setLimits({ operator: 'admin' }, `user:${user}`, given.limits);
    const visits = keepVisiting(user, given);
    const answers = new Map<string, string>();
    for (const { calls, minutesBefore } of given.rounds) {
      offset += minutesBefore * minuteMs;
      await Promise.all(
        calls.map((each) => skew.run(skews[each.machine] ?? 0, () => buy(user, each, answers))),
      );
    }
    await visits.stop();
    await lateCalls();

    await requireSums(user, (counted, recorded) => counted >= recorded);
    for (let times = 0; times < 2; times += 1) await sweepAfter(30);
    await requireSums(user, (counted, recorded) => counted === recorded);
    const account = await accountOf(user);
    assert.deepEqual([account?.open ?? 0, account?.pending_shard], [0, undefined], 'an entry is open');
    await requireRecords(user, answers);
  });

  expect(counts['calls struck']).toBeGreaterThan(0);
  expect(counts['records taken']).toBeGreaterThan(0);
  expect(leaks).toEqual([]);
  console.info(counts);
});

/** What a task names to its provider. */
const nameIn = (body: Record<string, unknown>) => String(body.payload ?? body.prompt);

async function buy(user: string, { key, reply, ...given }: PaidCall, answers: Map<string, string>) {
  const operation = key === undefined ? given.operation : String(proxyNames[key % proxyNames.length]);
  const name = `${key === undefined ? `none ${randomUUID()}` : `key ${key}`} ${privateText}`;
  const headers = {
    authorization: bearer(user),
    ...(key !== undefined && { 'idempotency-key': `key-${key}` }),
  };
  if (reply) simulation.misbehave(reply);
  const fields: Record<string, object> = {
    'relight-image': { prompt: name, image: picture },
    'multiframe-video': { payload: name, start_image: picture },
  };
  const body = { ...sampleBody(operation), ...(fields[operation] ?? { payload: name, images: [picture] }) };
  const plan = planOf(given.strikes);
  const answer = await underPlan(plan, () => callEndpoint(operation, { headers, body, remainingMs: 20_000 }));
  verify(operation, answer, plan);
  count(plan.struck.length > 0 ? 'calls struck' : 'calls');
  count(
    `answers ${answer.status} ${answer.headers['idempotent-replayed'] ? 'replayed' : (answer.body.error ?? '')}`,
  );
  assert.ok(
    answer.status === 200 || !answer.text.includes(picture.slice(100, 200)),
    'an error shows a picture',
  );
  if (answer.status !== 200) return;
  assert.equal(answers.get(name) ?? answer.text, answer.text, `two answers to ${name}`);
  // One that was struck may have been ended by a visit, and is replayed all the same.
  if (plan.struck.length === 0 && !answer.headers['idempotent-replayed']) answers.set(name, answer.text);
}

/** By the clocks of all machines in turn. The account stays within its limits. */
function keepVisiting(user: string, { limits: { credits_per_day, tasks_per_day }, visitStrikes }: Scenario) {
  let isOver = false;
  const visit = async () => {
    const account = await accountOf(user);
    if (account?.pending_since === undefined) return;
    count(`visits: ${await visitAccount({ deadline: Date.now() + 10 * minuteMs }, account)}`);
  };
  const visiting = (async () => {
    for (let times = 0; !isOver; times += 1) {
      const struck = () => underPlan(planOf(times % 2 === 0 ? visitStrikes : []), visit);
      await skew.run(skews[times % skews.length] ?? 0, struck).catch(() => count('visits that died'));
      for (const [day, credits, tasks] of sumsOf(await accountOf(user)))
        assert.ok(
          credits <= credits_per_day && tasks <= tasks_per_day,
          `${credits} credits and ${tasks} tasks on ${day}`,
        );
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

/** Credits and tasks of each day. */
async function requireSums(user: string, holds: (counted: number, recorded: number) => boolean) {
  const byDay = Map.groupBy(await usageOf(user), ({ at }) => at.slice(0, 10));
  const sums = new Map(sumsOf(await accountOf(user)).map(([day, ...counted]) => [day, counted]));
  for (const day of new Set([...byDay.keys(), ...sums.keys()])) {
    const own = byDay.get(day) ?? [];
    const recorded = [
      own.reduce((sum, { credits }) => sum + credits, 0),
      own.filter(({ payment }) => payment !== 'rejected').length,
    ];
    const counted = sums.get(day) ?? [0, 0];
    assert.ok(
      recorded.every((each, place) => holds(Number(counted[place]), each)),
      `the account counts ${counted} on ${day}, its attempts ${recorded}`,
    );
  }
}

/** One record for each task of the providers, at its price; only an unknown outcome may have no id. */
async function requireRecords(user: string, answers: ReadonlyMap<string, string>): Promise<void> {
  const records = await usageOf(user);
  for (const { payment } of records) count(`records ${payment}`);
  assert.ok(!records.some(({ payment }) => payment === 'sent'), 'a record is open');
  const bought = simulation.received.filter(({ taskId }) => taskId !== undefined);
  const keyed = bought.map(({ body }) => nameIn(body)).filter((name) => name.startsWith('key '));
  assert.equal(new Set(keyed).size, keyed.length, 'a key bought twice');
  // By the simulators' own prices, which share nothing with lib.
  const priced = new Map(
    bought.map(({ provider, taskId, body }) => [
      String(taskId),
      (provider === 'image' ? imageFormat : videoFormat).creditsOf(body),
    ]),
  );
  for (const text of answers.values()) {
    const { task_id = '', data } = JSON.parse(text);
    const record = records.find((each) => each.task_id === (data?.task_id ?? task_id));
    assert.equal(record?.payment, 'taken', `the record of ${text}`);
  }
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
