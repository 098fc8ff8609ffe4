import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { noon, stopDate } from '../../support/clock.ts';
import type { Result } from '../../support/invoke.ts';
import { acceptedTasks, proxies } from '../../support/proxies.ts';
import { beforeNext } from '../../support/intercept.ts';
import { invoke, sampleBody } from '../../support/invoke.ts';
import { bearer } from '../../support/tokens.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { remove } from '../../../lib/store/write.ts';
import { keyOfAccount } from '../../../lib/spend/account.ts';
import { blockCaller, setLimits } from '../../../packages/admin/spend/terms.ts';
import { setVariables } from '../../support/variables.ts';

setVariables({
  PROXY_ACCESS_TOKEN: 'optional',
  CREDIT_CEILINGS:
    'relightImage=1,textToVideo=40,textToVideo/vidq3-pro=90,textToVideo/vid2.0/5=25,multiframeVideo=60,multiframeVideo/vidq2-pro/14=75',
});

/*
 * Who may buy what, written a second time and independently of the code: for each operation and kind of model what a task may
 * cost at most (nothing where that is not configured) and what the simulators charge for it.
 */
const tasks = [
  { name: 'relight-image', model: undefined, ceiling: 1, price: 1 },
  { name: 'text-to-video', model: undefined, ceiling: 40, price: 20 },
  { name: 'text-to-video', model: 'vidq3-pro', ceiling: 90, price: 20 },
  { name: 'text-to-video', model: 'vidq1', ceiling: 40, price: 20 },
  { name: 'text-to-video', model: 'vid2.0', ceiling: 25, price: 20 },
  { name: 'extend-video', model: 'vidq2-pro', ceiling: undefined, price: 20 },
  { name: 'multiframe-video', model: 'vidq2-pro', ceiling: 60, price: 20 },
  { name: 'multiframe-video', model: 'vidq2-turbo', ceiling: 60, price: 20 },
  { name: 'multiframe-video', model: 'vidq2-pro', secondsOfFrames: [7, 7], ceiling: 75, price: 20 },
  { name: 'multiframe-video', model: 'vidq2-pro', secondsOfFrames: [7, null], ceiling: 60, price: 20 },
] as const;

type Task = (typeof tasks)[number];

/** One of each operation that needs no token. */
const tasksOfAnyone = [tasks[1], tasks[5], tasks[6]];
type Expected = '200' | '403 caller_blocked' | '429 budget_exhausted' | '429 too_many_requests';

interface LimitState {
  limits: (ceiling: number, price: number) => Record<string, number>;
  /** Whether the caller has started one such task before. */
  after?: 'a task';
  /** Whether another such task of the caller is running, so that what it costs is not known yet. */
  during?: 'a task';
  isBlocked?: true;
  expected: Expected;
  /** Where the operator has not said what the task may cost. */
  withoutCeiling: Expected;
  /** Whether waiting helps. */
  waits?: true;
}

const used = '429 budget_exhausted';
const states: Record<string, LimitState> = {
  'no limit': { limits: () => ({}), expected: '200', withoutCeiling: '200' },
  'a limit of 0': { limits: () => ({ credits_per_day: 0 }), expected: '200', withoutCeiling: '200' },
  'credits for exactly one': {
    limits: (ceiling) => ({ credits_per_day: ceiling }),
    expected: '200',
    withoutCeiling: used,
  },
  'one credit too few on any day': {
    limits: (ceiling) => ({ credits_per_day: Math.max(1, ceiling - 1) }),
    expected: used,
    withoutCeiling: used,
  },
  'one credit too few today': {
    limits: (ceiling, price) => ({ credits_per_day: ceiling + price - 1 }),
    after: 'a task',
    expected: used,
    withoutCeiling: used,
    waits: true,
  },
  'credits for one more': {
    limits: (ceiling, price) => ({ credits_per_day: ceiling + price }),
    after: 'a task',
    expected: '200',
    withoutCeiling: used,
  },
  'no task left': {
    limits: () => ({ tasks_per_day: 1 }),
    after: 'a task',
    expected: used,
    withoutCeiling: used,
    waits: true,
  },
  'no request left this minute': {
    limits: () => ({ requests_per_minute: 1 }),
    after: 'a task',
    expected: '429 too_many_requests',
    withoutCeiling: '429 too_many_requests',
    waits: true,
  },
  'credits for one more but for a running task': {
    limits: (ceiling) => ({ credits_per_day: 2 * ceiling - 1 }),
    during: 'a task',
    expected: '429 too_many_requests',
    withoutCeiling: used,
    waits: true,
  },
  'one task left but for a running one': {
    limits: () => ({ tasks_per_day: 1 }),
    during: 'a task',
    expected: '429 too_many_requests',
    withoutCeiling: '429 too_many_requests',
    waits: true,
  },
  blocked: {
    limits: () => ({}),
    isBlocked: true,
    expected: '403 caller_blocked',
    withoutCeiling: '403 caller_blocked',
  },
};

// No day and no minute ends meanwhile.
beforeEach(() => stopDate(noon() + 30_000));

function buy(task: Task, user: string | undefined) {
  const { name, model } = task;
  const frames = 'secondsOfFrames' in task ? task.secondsOfFrames : undefined;
  const key_image = 'https://example.com/frame.png';
  return invoke(proxies[name], name, {
    body: {
      ...sampleBody(name),
      ...(name === 'text-to-video' ? { model } : model && { model }),
      ...(frames && { image_settings: frames.map((duration) => ({ key_image, duration })) }),
    },
    headers: { authorization: user === undefined ? undefined : bearer(user) },
  });
}

/** Buys a task while another one of the same caller has reserved what it may cost. */
async function buyDuring(task: Task, user: string | undefined): Promise<Result> {
  const answers: Result[] = [];
  const inBetween = beforeNext(dynamodb, /^PutItemCommand$/, async () => {
    answers.push(await buy(task, user));
  });
  const first = await buy(task, user);
  inBetween.remove();
  return answers[0] ?? first;
}

async function check(task: Task, state: LimitState, user: string | undefined): Promise<void> {
  const caller = user === undefined ? 'anonymous' : `user:${user}`;
  const { ceiling, price } = task;
  await remove({ deadline: Date.now() + 5000 }, keyOfAccount(caller), [['pk', 'exists']]);
  if (state.after) expect((await buy(task, user)).status).toBe(200);
  await setLimits(caller, state.limits(ceiling ?? price, price));
  if (state.isBlocked) await blockCaller(caller, 'test');
  const before = acceptedTasks();
  const { status, body, headers } = await (state.during ? buyDuring(task, user) : buy(task, user));

  const isUnpriced = ceiling === undefined;
  const expected = isUnpriced ? state.withoutCeiling : state.expected;
  // A price of 1 is also the least limit there is.
  const fitsAnyway = task.ceiling === 1 && state === states['one credit too few on any day'];
  expect([status, body.error].join(' ').trim()).toBe(fitsAnyway ? '200' : expected);
  const isForNow = state.waits && !(isUnpriced && 'credits_per_day' in state.limits(1, 1));
  const isRunning = state.during !== undefined && isForNow;
  expect(acceptedTasks() - before).toBe((status === 200 ? 1 : 0) + (isRunning ? 1 : 0));
  expect(headers['retry-after'] !== undefined).toBe(Boolean(isForNow));
  if (isRunning) expect(Number(headers['retry-after'])).toBeLessThanOrEqual(30);
}

describe.each(Object.entries(states))('a caller with %s', (_, state) => {
  test.each(tasks)('pays for $name $model with a token', (task) =>
    check(task, state, `matrix-${randomUUID()}`),
  );

  test.each(tasksOfAnyone)('pays for $name $model without a token', (task) => check(task, state, undefined));
});
