import { beforeEach, describe, expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { handler } from '../../functions/poll-providers.ts';
import { handler as deliver } from '../../functions/deliver-notifications.ts';
import type { TaskRecord } from '../../lib/notifications/records.ts';
import { firstDue } from '../../lib/store/due.ts';
import { keyOf } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { remove } from '../../lib/store/write.ts';
import { sumUsage } from '../../tools/admin/spend/usage.ts';
import { failCalls } from '../support/intercept.ts';
import { sampleEvent } from '../support/invoke.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { hook, type Path, say } from '../support/notified.ts';
import { shownStatus } from '../support/notifications.ts';
import { misbehave, type ProxyName, simulation } from '../support/proxies.ts';
import { queue, runQueue } from '../support/queue.ts';
import { notificationsOf, pathOf, storedTask } from '../support/relay.ts';
import { pay, spender, usageOf } from '../support/spending.ts';
import { setVariables } from '../support/variables.ts';

const minutes = 60_000;
const days = 24 * 60 * minutes;

beforeEach(async () => {
  setVariables({ VIDEO_PROVIDER_TASK_PATH: '', POLLS_PER_SECOND: '100' });
  const period = { from: 0, to: Date.now() + 14 * days };
  const left = await firstDue(soon(), { work: 'polls', period, order: 'oldest first' }, 1000);
  await Promise.all(left.map((key) => remove(soon(), keyOf(key), [['pk', 'exists']])));
});

const soon = () => ({ deadline: Date.now() + 60_000 });

/** Polls what is due so many minutes from now. */
async function poll(after = 0): Promise<void> {
  const now = Date.now();
  stopDate(now + after * minutes);
  const invocation = { getRemainingTimeInMillis: () => 59_000 };
  await handler(sampleEvent('poll-providers'), invocation).finally(() => stopDate(now));
}

/** A task without any notification: the simulated provider moves it on, and its notifications lead nowhere. */
async function unreported(user: string, name: ProxyName = 'text-to-video', body = {}): Promise<Path> {
  stopDate();
  const field = name === 'relight-image' ? 'webhook_url' : 'callback_url';
  await pay(user, name, { body: { [field]: hook, ...body } });
  return pathOf(simulation.received.at(-1)?.body[field]);
}

/** The simulated provider says that a task runs. */
const running = { kind: 'reply', method: 'GET', fields: { state: 'processing' } } as const;

/** The simulated provider's task, moved on. */
function moved(state: string): void {
  for (const task of simulation.tasks.list) task.state = state;
}

const stored = async ({ task }: Path) => (await storedTask(task)) as TaskRecord;
const dueIn = ({ at, pending_since }: TaskRecord) =>
  (Date.parse(String(pending_since)) - Date.parse(at)) / minutes;
const swept = () => lines('sweep').at(-1)?.findings;

describe('a task whose end was not notified', () => {
  test.each([
    ['text-to-video', 'success', 'webm'],
    ['relight-image', 'COMPLETED', 'png'],
  ])('is polled, and what the provider tells of %s is delivered', async (name, word, kind) => {
    const user = await spender();
    const path = await unreported(user, name, { payload: `of ${name}` });
    moved(word);
    await poll(9);
    expect(await notificationsOf(path.task)).toEqual([]);
    await poll(10);

    const [notification] = await notificationsOf(path.task);
    expect(notification).toMatchObject({ state: 'success', address: hook });
    const { task_id } = await stored(path);
    const media = [expect.stringMatching(`${task_id}.${kind}$`)];
    expect(JSON.parse(String(notification?.body))).toMatchObject({ task_id, state: 'success', media });
    expect(await stored(path)).not.toHaveProperty('pending_since');
    expect(await usageOf(user)).toMatchObject([{ task_id, final_state: 'success' }]);
    expect(swept()).toEqual({ ended: 1 });
  });

  test('is polled by the ID in its usage record if its own record lost it', async () => {
    const user = await spender();
    const repair = failCalls(dynamodb, 'UpdateItemCommand', new Error('lost'), 'ended_at');
    const path = await unreported(user);
    repair();
    const fields = { id: 'of-another', task_id: 'of-another', state: 'success', creations: [{ url: hook }] };
    misbehave({ ...running, fields });
    await poll(10);

    const { task_id, state } = await stored(path);
    expect([state, task_id]).toEqual(['success', (await usageOf(user))[0]?.task_id]);
  });

  test.each([
    ['success', 'success', [hook]],
    ['success', 'success', []],
    ['timeout', 'success', [hook]],
    ['failed', 'failed', []],
  ])('is polled once after a bare %s, and takes %s with %j', async (word, state, media) => {
    const path = await unreported(await spender());
    await say(path, { state: word });
    misbehave({ ...running, fields: { state, creations: media.map((url) => ({ url })) } });
    await poll(10);
    await poll(60);

    const said = (await notificationsOf(path.task)).map(({ body }) => JSON.parse(body));
    expect(said).toHaveLength(word === state && media.length === 0 ? 1 : 2);
    expect(said.at(-1)).toMatchObject({ state, media });
    expect(await stored(path)).not.toHaveProperty('pending_since');
    expect(swept()).toEqual({});
  });

  test('is polled at growing distances, and an off-peak task from one hour on', async () => {
    const path = await unreported(await spender());
    const offPeak = await unreported(await spender(), 'text-to-video', { off_peak: true });
    misbehave({ ...running, times: 30 });
    const firstOffPeak = dueIn(await stored(offPeak));
    const polled: number[] = [];
    for (let next = dueIn(await stored(path)); polled.length < 10; next = dueIn(await stored(path))) {
      polled.push(next);
      await poll(next);
    }

    expect(polled).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 2000, 2720]);
    expect([firstOffPeak, dueIn(await stored(offPeak)) > 60]).toEqual([60, true]);
    expect((await notificationsOf(path.task)).map(({ state }) => state)).toEqual(['processing']);
  });

  test.each([
    [429, 1],
    [500, 3],
    [401, 3],
    [403, 3],
  ])('waits after an answer %i to %i others in a row', async (status, times) => {
    setVariables({ POLLS_PER_SECOND: '5' });
    const paths = [await unreported(await spender())];
    while (paths.length <= times) paths.push(await unreported(await spender()));
    misbehave({ kind: 'status', method: 'GET', status, times });
    misbehave({ ...running, times: 30 });
    await poll(10);

    const due = async () => (await Promise.all(paths.map(stored))).map(dueIn).sort();
    const polled = Array(times).fill(20);
    expect(swept()).toEqual({ untold: times, unvisited: 1 });
    expect(await due()).toEqual([10, ...polled]);
    expect(loggedLines.join()).toContain('"event":"provider_busy"');
    // Those that were polled may fail for ever, and must not be the first again.
    await poll(11);
    expect(swept()).toEqual({ told: 1 });
    expect(await due()).toEqual([...polled, 22]);
  });

  test.each(['status', 'reset'] as const)('is polled after a %s that fails another', async (kind) => {
    setVariables({ POLLS_PER_SECOND: '5' });
    for (let tasks = 0; tasks < 5; tasks += 1) await unreported(await spender());
    misbehave({ kind, method: 'GET', status: 500, times: 2 });
    misbehave({ ...running });
    misbehave({ kind, method: 'GET', status: 403, times: 2 });
    await poll(10);

    expect(swept()).toEqual({ untold: 4, told: 1 });
  });

  test.each([
    [{}, { kind: 'status', status: 404 }, 'untold'],
    [{ state: 'success' }, { kind: 'status', status: 404 }, 'untold'],
    [{ state: 'timeout' }, { kind: 'html' }, 'untold'],
    [{ state: 'timeout' }, running, 'told'],
  ] as const)('that was heard of as %j is polled again after %j', async (said, answer, finding) => {
    const path = await unreported(await spender());
    await say(path, said);
    misbehave({ ...answer, method: 'GET' });
    await poll(10);

    expect(swept()).toEqual({ [finding]: 1 });
    expect(dueIn(await stored(path))).toBe(20);
  });

  test('hides the secret that an answer repeats', async () => {
    const path = await unreported(await spender());
    const fields = { state: 'processing', callback: `https://x.example/video/${path.task}` };
    misbehave({ kind: 'reply', method: 'GET', fields });
    await poll(10);

    const [notification] = await notificationsOf(path.task);
    expect(JSON.parse(String(notification?.body)).callback).toBe(hook);
  });
});

describe('a task that nothing is heard of', () => {
  test.each([
    ['whose provider is never polled', { VIDEO_PROVIDER_TASK_PATH: 'off' }, undefined, 'taken', 7],
    ['that no one has named', {}, 'reset', 'unknown', 7],
    ['whose record has expired', { VIDEO_PROVIDER_TASK_PATH: 'off' }, undefined, 'taken', 15],
  ] as const)('is given up after seven days, %s', async (_, variables, kind, state, age) => {
    setVariables(variables);
    const user = await spender();
    if (kind) misbehave({ kind, accepted: true });
    const path = await unreported(user);
    await poll(10);
    expect(dueIn(await stored(path))).toBe(7 * 24 * 60);
    await poll(age * 24 * 60);
    expect(swept()).toEqual({ given_up: 1 });
    await poll(age * 24 * 60 + 1);
    expect(swept()).toEqual({});
    const [notification] = await notificationsOf(path.task);
    queue.advance((age + 1) * days);
    await runQueue(deliver);

    const error = expect.stringContaining('for seven days');
    expect((await shownStatus(notification)).content).toMatchObject({ state: 'failed', error });
    expect(await usageOf(user)).toMatchObject([{ payment: state, final_state: 'failed', given_up: true }]);
    const day = new Date().toISOString().slice(0, 10);
    const sums = await sumUsage({ from: day, to: day, caller: `user:${user}` }, ['caller']);
    expect(sums).toMatchObject([{ given_up: 1, credits: state === 'taken' ? 20 : 74 }]);
    await say(path, { state: 'success' });
    expect(await usageOf(user)).toMatchObject([{ final_state: 'success' }]);
    expect((await usageOf(user))[0]).not.toHaveProperty('given_up');
  });

  test('is not followed if its provider took nothing', async () => {
    misbehave({ kind: 'status', status: 400 });
    const path = await unreported(await spender());

    expect(await storedTask(path.task)).toBeUndefined();
  });
});
