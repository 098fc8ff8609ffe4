import { beforeEach, describe, expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { handler } from '../../functions/poll-providers.ts';
import { handler as deliver } from '../../functions/deliver-notifications.ts';
import type { TaskRecord } from '../../lib/notifications/records.ts';
import { keyOf } from '../../lib/store/keys.ts';
import { deleting, write } from '../../lib/store/write.ts';
import { sumUsage } from '../../tools/admin/spend/usage.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { hook, type Path, say } from '../support/notified.ts';
import { shownStatus } from '../support/notifications.ts';
import { misbehave, type ProxyName, simulation } from '../support/proxies.ts';
import { queue, queueOf, runQueue } from '../support/queue.ts';
import { notificationsOf, pathOf, storedTask } from '../support/relay.ts';
import { pay, spender, usageOf } from '../support/spending.ts';
import { handOver } from '../support/work.ts';
import { listWork } from '../../tools/admin/registry/work.ts';
import { setVariables } from '../support/variables.ts';
import { soon } from '../support/registry.ts';

const minutes = 60_000;

const days = 24 * 60 * minutes;

/** A function leaves a provider alone that was busy, so each test has a month of its own. */
let month = Date.now();

beforeEach(async () => {
  month += 30 * days;
  stopDate(month);
  setVariables({ VIDEO_PROVIDER_TASK_PATH: '' });
  const left = await listWork('poll', false, 1000);
  await Promise.all(left.map((item) => write(soon(), deleting(keyOf(item), [['pk', 'exists']]))));
});

/** Polls what is due so many minutes from now. Returns what was logged of the polls. */
async function poll(after = 0): Promise<unknown[]> {
  const now = Date.now();
  stopDate(now + after * minutes);
  loggedLines.length = 0;
  await handOver();
  queueOf('poll').advance(minutes);
  await runQueue(handler, 'poll', 1).finally(() => stopDate(now));
  const givenUp = lines('work').filter(({ outcome }) => outcome === 'given_up');
  return [...lines('poll'), ...givenUp].map(({ outcome }) => outcome);
}

/** A task without any notification: the simulated provider moves it on, and its notifications lead nowhere. */
async function unreported(user: string, name: ProxyName = 'text-to-video', body = {}): Promise<Path> {
  stopDate(month);
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
  });

  test.each(['success', 'timeout'])('is not polled after a %s, though it names no results', async (state) => {
    const path = await unreported(await spender());
    await say(path, { state });
    loggedLines.length = 0;
    misbehave({ kind: 'html', method: 'GET' });

    expect(await poll(10)).toEqual([]);
    expect(await stored(path)).not.toHaveProperty('pending_since');
  });

  // How the distances grow: tests/lib/work/work.test.ts.
  test('is polled again while it runs, and an off-peak task from one hour on', async () => {
    const path = await unreported(await spender(), 'text-to-video', { off_peak: true });
    misbehave(running);
    const first = dueIn(await stored(path));
    await poll(first);

    expect([first, dueIn(await stored(path))]).toEqual([60, 120]);
    expect((await notificationsOf(path.task)).map(({ state }) => state)).toEqual(['processing']);
  });

  test('waits for its next time after a 429 to another, and after no other answer that tells nothing', async () => {
    const failures = [
      { kind: 'reset' },
      { kind: 'status', status: 500 },
      { kind: 'status', status: 404 },
      { kind: 'html' },
    ] as const;
    const paths: Path[] = [];
    for (const _ of failures) paths.push(await unreported(await spender()));
    for (const failure of failures) misbehave({ ...failure, method: 'GET' });
    expect(await poll(10)).toEqual(Array(4).fill('untold'));
    misbehave({ kind: 'status', method: 'GET', status: 429 });
    misbehave({ ...running, times: 4 });
    expect(await poll(20)).toEqual(['untold']);

    const told = () => Promise.all(paths.map(({ task }) => notificationsOf(task)));
    expect((await told()).flat()).toEqual([]);
    expect((await Promise.all(paths.map(stored))).map(dueIn)).toEqual(Array(4).fill(40));
    expect(lines('provider_busy')).toMatchObject([{ provider: 'video' }]);
    expect(await poll(40)).toEqual([]);
    expect((await told()).flat()).toHaveLength(4);
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
    expect(await poll(age * 24 * 60)).toEqual(['given_up']);
    expect(await poll(age * 24 * 60 + 1)).toEqual([]);
    const [notification] = await notificationsOf(path.task);
    queue.advance((age + 1) * days);
    await runQueue(deliver);

    const error = expect.stringContaining('for seven days');
    expect((await shownStatus(notification)).content).toMatchObject({ state: 'failed', error });
    expect(await usageOf(user)).toMatchObject([{ payment: state, final_state: 'failed', given_up: true }]);
    const day = new Date().toISOString().slice(0, 10);
    const sums = await sumUsage({ from: day, to: day, caller: `user:${user}` }, ['caller']);
    expect(sums).toMatchObject([{ given_up: 1, credits: state === 'taken' ? 20 : 74 }]);
    await say(path, { state: 'processing', id: 'late' });
    expect((await usageOf(user))[0]).toHaveProperty('given_up');
    await say(path, { state: 'failed' });
    expect((await usageOf(user))[0]).not.toHaveProperty('given_up');
    await say(path, { state: 'success' });
    expect(await usageOf(user)).toMatchObject([{ final_state: 'success' }]);
  });
});
