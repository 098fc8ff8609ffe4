import { beforeEach, describe, expect, test } from '@jest/globals';
import { admin, adminJson, limitPages } from '../support/admin.ts';
import { callerHash, callerName, principalOf } from '../../lib/caller.ts';
import { endAttempt, recordSent } from '../../lib/attempts/attempt.ts';
import { spendingOf } from '../../lib/attempts/own-usage.ts';
import { reserve } from '../../lib/attempts/reserve.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { blockKey } from '../../lib/store/keys.ts';
import { newContext } from '../../tools/admin/registry/administration.ts';
import { callerOf, callerText } from '../../tools/admin/spend/caller-name.ts';
import { blockCaller, setLimits } from '../../tools/admin/spend/limits.ts';
import { daysBetween, findUsage } from '../../tools/admin/spend/usage.ts';
import { startAtNoon, stopDate } from '@node-registry/testing/clock';
import { beforeNext } from '../support/intercept.ts';
import { misbehave } from '../support/proxies.ts';
import { setFields, storedItem } from '../support/registry.ts';
import { setVariables } from '../support/variables.ts';
import { attemptOf, pay, spender, usageOf } from '../support/spending.ts';

/** A hash is looked for in the records of every day. */
const words = (line: string, user: string) => line.split(' ').map((word) => (word === 'USER' ? user : word));
const show = (user: string) => adminJson('limit', 'show', user);

test('limit set, show, list and clear change single limits, keep a block, and show who did it and what is used', async () => {
  startAtNoon();
  setVariables({ CREDITS_PER_DAY: '2000', REQUESTS_PER_MINUTE: '7' });
  const user = await spender();
  for (const line of ['--credits-per-day 100 --tasks-per-day 5', '--tasks-per-day default'])
    await admin('limit', 'set', user, ...line.split(' '));
  const limits = { credits_per_day: 100 };
  const in_force = { ...limits, tasks_per_day: 0, requests_per_minute: 7 };
  const listed = await adminJson('limit', 'list');
  await pay(user, 'multiframe-video');
  const idle = await admin('limit', 'show', user);
  await reserve(newContext(), attemptOf(user));
  const { stdout } = await admin('limit', 'show', user);
  await admin('caller', 'block', user, '--reason', 'leaked');
  const shown = await show(user);
  await admin('limit', 'clear', user);
  const onlyBlocked = await adminJson('limit', 'list');

  expect(listed).toContainEqual({ user, limits });
  expect(onlyBlocked).toContainEqual({ user, limits: {}, blocked: shown.blocked });
  expect(idle.stdout).toMatch(
    /^In force +100 credits per day, no limit on tasks per day, 7 requests per minute$/m,
  );
  expect(idle.stdout).toMatch(/^Used +credits 20, tasks 1\nRunning +0\n/m);
  expect(stdout).toMatch(/^Used +credits 70, tasks 2\nRunning +1\n/m);
  const [at, actor] = [expect.stringMatching(/Z$/), expect.stringMatching(/./)];
  const blocked = { at, reason: 'leaked' };
  // Without the keys of the store.
  expect(shown).toEqual({
    user,
    limits,
    in_force,
    blocked,
    used: { credits: 70, tasks: 2 },
    running: 1,
    history: [
      { at, actor, action: 'caller block', detail: 'leaked' },
      { at, actor, action: 'limit set', detail: 'tasks_per_day=default' },
      { at, actor, action: 'limit set', detail: 'credits_per_day=100 tasks_per_day=5' },
    ],
  });
  expect(await show(user)).toMatchObject({ limits: {}, blocked });
  await admin('caller', 'unblock', user);
  expect((await admin('limit', 'list')).stdout).not.toContain(user);
});

test('caller block and limit set reach a caller that has never paid, and a block of a new name asks whether it is right', async () => {
  const user = await spender();
  const ran = [];
  const block = 'caller block USER --reason test';
  for (const line of [block, 'limit set USER --tasks-per-day 9', block])
    ran.push((await admin(...words(line, user))).stdout);
  const blocked = await pay(user);
  for (let times = 0; times < 2; times += 1) ran.push((await admin('caller', 'unblock', user)).stdout);

  expect(ran).toEqual([
    `${user} is blocked. It has never paid or had a limit here: is the name right?\n`,
    `${user}: 9 tasks per day\n`,
    `${user} is blocked.\n`,
    `Unblocked ${user}.\n`,
    `${user} was not blocked: nothing changed.\n`,
  ]);
  expect([blocked.body.error, (await pay(user)).status]).toEqual(['caller_blocked', 200]);
  expect(await storedItem(blockKey(callerHash(`user:${user}`)))).toBeUndefined();
});

describe('the name of a caller', () => {
  test('is also the hash of log lines, if a payer has it', async () => {
    const user = await spender();
    await pay(user);
    const blocked = await admin('caller', 'block', principalOf(user), '--reason', 'test');
    const stopped = await pay(user);
    const unblocked = await admin('caller', 'unblock', principalOf(user));
    const unknown = await admin('caller', 'block', '0123456789abcdef', '--reason', 'test');

    expect([blocked.stdout, unblocked.stdout]).toEqual([`${user} is blocked.\n`, `Unblocked ${user}.\n`]);
    expect([stopped.body.error, (await pay(user)).status]).toEqual(['caller_blocked', 200]);
    expect([unknown.status, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/^No user with the hash 0123456789abcdef has sent/),
    ]);
  });

  test('accepts a user whose id is @anonymous', async () => {
    const caller = 'user:@anonymous';
    expect((await pay('@anonymous', 'relight-image')).status).toBe(200);
    await admin('caller', 'block', caller, '--reason', 'test');
    const stopped = await pay('@anonymous');

    expect(stopped.body.error).toBe('caller_blocked');
    expect(await adminJson('usage', '--user', caller, '--by', 'caller')).toMatchObject([
      { group: { caller }, tasks: 1 },
    ]);
    expect(await adminJson('limit', 'show', '@anonymous')).not.toHaveProperty('blocked');
    expect((await admin('limit', 'list')).stdout).toMatch(/^user:@anonymous\s/m);
  });

  test.each(['anonymous', '@anonymous', '@Anonymous', 'user:@anonymous', 'user:user:@ANONYMOUS', 'user:x'])(
    'shows the user %j as written on the command line',
    (userId) => {
      const caller = callerName({ userId });

      expect(callerOf(callerText(caller))).toBe(caller);
    },
  );

  test('is not @Anonymous', async () => {
    const { status, stderr } = await admin('limit', 'clear', '@Anonymous');

    expect([status, stderr]).toEqual([2, expect.stringMatching(/"@anonymous".*"user:@Anonymous"/)]);
  });
});

test('limit set keeps a block that comes while it sets limits', async () => {
  const user = await spender();
  beforeNext(dynamodb, /^TransactWriteItems/, () =>
    blockCaller({ operator: 'admin' }, `user:${user}`, 'leaked'),
  );
  await setLimits({ operator: 'admin' }, `user:${user}`, { tasks_per_day: 3 });

  expect(await show(user)).toMatchObject({ limits: { tasks_per_day: 3 }, blocked: { reason: 'leaked' } });
});

test('usage list lists the records of a user, of a request and of a task', async () => {
  startAtNoon();
  // Of the last of the sixteen lists of a day's callers.
  let user = await spender();
  while (!callerHash(`user:${user}`).startsWith('f')) user = await spender();
  const other = await spender();
  await pay(user, 'relight-image', { headers: { 'x-request-id': `first-${user}` } });
  await pay(user, 'text-to-video', { headers: { 'x-request-id': `second-${user}` } });
  await pay(other, 'text-to-video');
  const records = await usageOf(user);
  const ids = async (option: string, value: unknown) =>
    (await adminJson('usage', 'list', option, String(value))).map(
      ({ request_id }: { request_id: string }) => request_id,
    );
  const [first] = await adminJson('usage', 'list', '--user', user);

  expect(await ids('--user', user)).toEqual([`first-${user}`, `second-${user}`]);
  expect(await ids('--request', `second-${user}`)).toEqual([`second-${user}`]);
  expect(await ids('--task', records[0]?.task_id)).toContain(`first-${user}`);
  const { at, task_id, ms } = records[0] ?? {};
  expect(first).toEqual({
    at,
    caller: user,
    operation: 'relightImage',
    request_id: `first-${user}`,
    state: 'taken',
    credits: 1,
    is_exact: true,
    task_id,
    ms,
  });
  const day = first.at.slice(0, 10);
  const period = { from: day, to: day, caller: `user:${user}` };
  expect(await findUsage(period, {}, 2)).toEqual({ records, hasMore: false });
  expect(await findUsage(period, {}, 1)).toEqual({ records: records.slice(0, 1), hasMore: true });
  expect((await admin('usage', 'list', '--request', 'never-seen')).stdout).toBe('No records match.\n');
});

test('every record of a caller and a day comes once, from partitions of several pages', async () => {
  stopDate(Date.UTC(2026, 0, 1));
  const user = await spender();
  const names = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const attempt = attemptOf(user, Date.now() + index);
      await recordSent(newContext(), attempt);
      return attempt.sk;
    }),
  );
  limitPages(3);

  expect((await usageOf(user)).map(({ sk }) => sk).sort()).toEqual(names);
});

describe('usage', () => {
  beforeEach(startAtNoon);

  test('reads only days that can have records', () => {
    const dayAt = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const days = daysBetween('0001-01-01', '9999-12-31');

    expect([days[0], days.at(-1), days.length]).toEqual([dayAt(-400), dayAt(1), 402]);
  });

  test('sums up one user by operation and model, or by how its tasks ended', async () => {
    const user = await spender();
    await pay(user, 'text-to-video');
    await pay(user, 'text-to-video');
    await pay(user, 'relight-image');
    misbehave({ kind: 'status', status: 422 });
    await pay(user, 'relight-image');

    const at = Date.now() - 86_400_000;
    const sent = { ...attemptOf(user, at), operation: 'multiframeVideo', credits: 28 };
    await recordSent(newContext(), sent);
    const from = new Date(at).toISOString().slice(0, 10);
    const by = ['--by', 'operation,model'];

    expect(await adminJson('usage', '--user', user, '--from', from, ...by)).toContainEqual({
      group: { operation: 'multiframeVideo', model: '' },
      tasks: 0,
      credits: 28,
      unknown: 1,
      rejected: 0,
    });
    expect(await adminJson('usage', '--user', user, ...by)).toEqual([
      {
        group: { operation: 'textToVideo', model: 'vidq2-turbo' },
        tasks: 2,
        credits: 40,
        unknown: 0,
        rejected: 0,
      },
      { group: { operation: 'relightImage', model: '' }, tasks: 1, credits: 1, unknown: 0, rejected: 1 },
    ]);
    const film = (await usageOf(user)).find(({ operation }) => operation === 'textToVideo');
    await setFields(film ?? { pk: '', sk: '' }, { final_state: 'failed' });
    expect(await adminJson('usage', '--user', user, '--by', 'final_state')).toMatchObject([
      { group: { final_state: '' }, tasks: 2, credits: 21 },
      { group: { final_state: 'failed' }, tasks: 1, credits: 20 },
    ]);
  });

  test('shows the caller and the operator an unknown attempt as such, though it names a task', async () => {
    const user = await spender();
    const attempt = attemptOf(user);
    await recordSent(newContext(), attempt);
    await endAttempt(newContext(), attempt, { payment: 'unknown', credits: 50, task_id: 'of a failure' });
    const { days } = await spendingOf(newContext(), { userId: user, isAdmin: false }, {});

    for (const sums of [days, await adminJson('usage', '--user', user, '--by', 'day')])
      expect(sums).toMatchObject([{ tasks: 0, unknown: 1, credits: 50 }]);
  });

  test('prints a table for people and CSV for spreadsheets, which runs nothing in it', async () => {
    const user = `=cmd()-${await spender()}`;
    await pay(user, 'relight-image');
    const today = new Date().toISOString().slice(0, 10);

    expect((await admin('usage', '--user', user)).stdout).toMatch(/CALLER\s+OPERATION\s+CREDITS/);
    expect((await admin('usage', '--user', user, '--by', 'caller,day', '--csv')).stdout).toBe(
      `caller,day,credits,tasks,unknown,rejected\n'${user},${today},1,1,0,0\n`,
    );
  });

  test.each([
    ...['=1', "'=1", '+1', '-1', '@SUM(1)', '\t=1', '＝1', '＋1', '－1', '＠1'].map((user) => [
      user,
      `'${user}`,
    ]),
    ...['\r=1', '\n=1'].map((user) => [user, `"'${user}"`]),
    ['a,"b"', '"a,""b"""'],
  ])('writes the user %j as the CSV cell %j', async (user, cell) => {
    await pay(user, 'relight-image');
    const { stdout } = await admin('usage', '--user', user, '--by', 'caller', '--csv');

    expect(stdout).toBe(`caller,credits,tasks,unknown,rejected\n${cell},1,1,0,0\n`);
  });

  test.each([
    ...['usage --by colour', 'limit set x --credits-per-day 1000000000'],
    ...['-1', '1.5', 'many', ''].map((value) => `limit set x --credits-per-day=${value}`),
    ...[
      '--from yesterday',
      '--from 2026-02-30',
      '--to 2026-13-01',
      '--from 2026-11-22 --to 2026-11-21',
    ].flatMap((period) => [`usage ${period}`, `usage compare no-bill.csv ${period}`]),
  ])('exits with 2 and changes nothing: %s', async (line) => {
    const { status, stdout } = await admin(...line.split(' '));

    expect([status, stdout]).toEqual([2, '']);
  });
});
