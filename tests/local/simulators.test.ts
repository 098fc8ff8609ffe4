import { json } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { serve, untilEnd } from '../support/serve.ts';
import { startSimulators } from '../../tools/simulators/start-simulators.ts';
import { until } from '@node-registry/testing/until';

const keys = { image: 'image-key', video: 'video-key' };
const { simulation, url } = untilEnd(await startSimulators({ keys, tickMs: 10 }));

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body), headers });
const video = (body: object, path = '/video/text2video') =>
  post(path, body, { authorization: 'Token video-key' });
const image = (body: object) => post('/image/v1/ai/image-relight', body, { 'x-api-key': 'image-key' });

async function contentOf<Content>(answer: Promise<Response>): Promise<Content> {
  return (await (await answer).json()) as Content;
}

const notified: Record<string, unknown>[] = [];
let tests = 0;
let hook: string;
/** A notification that an earlier test left under way counts for nothing. */
const receiver = await serve(async (request, response) => {
  const body = (await json(request)) as Record<string, unknown>;
  if (hook.endsWith(String(request.url))) notified.push(body);
  response.end();
});

beforeEach(() => {
  tests += 1;
  hook = `${receiver.url}/hook-${tests}-`;
  simulation.reset();
  notified.length = 0;
});

describe('a task', () => {
  test('notifies the image provider’s webhook of each state', async () => {
    const answer = image({ image: 'AAAA', webhook_url: hook });
    const { data } = await contentOf<{ data: { task_id: string } }>(answer);
    await until(() => notified.length >= 2);

    expect(notified).toEqual([
      { task_id: data.task_id, status: 'IN_PROGRESS', generated: [] },
      { task_id: data.task_id, status: 'COMPLETED', generated: [expect.stringContaining(data.task_id)] },
    ]);
  });

  test('calls no address outside this machine', async () => {
    await video({ prompt: 'Rain', callback_url: 'http://callback.example/hook' });
    const task = simulation.tasks.list.at(-1);
    await until(() => task?.state === 'success');

    expect(task).toMatchObject({ state: 'success', notifications: [] });
  });
});

describe('a prompt', () => {
  test.each([
    ['Rain', ['queueing', 'processing', 'success']],
    ['[fail]', ['queueing', 'processing', 'failed']],
    ['[twice]', ['queueing', 'queueing', 'processing', 'processing', 'success', 'success']],
    ['[out of order]', ['success', 'processing', 'queueing']],
    ['[out of order] [fail]', ['failed', 'processing', 'queueing']],
    ['[unknown words]', ['WARMING_UP', 'rendering 80 %', 'success']],
    ['[silent]', []],
  ])('chooses with %s the notifications %j', async (prompt, states) => {
    const { task_id } = await contentOf<{ task_id: string }>(video({ prompt, callback_url: hook }));
    const task = simulation.tasks.list.find(({ id }) => id === task_id);
    const isOver = () => ['success', 'failed'].includes(String(task?.state));
    await until(() => isOver() && notified.length >= states.length);

    expect(notified.map(({ id, state }) => [id, state])).toEqual(states.map((state) => [task_id, state]));
  });

  test.each([
    ['[reject]', 400, 0],
    ['[busy]', 429, 0],
    ['[lose answer]', 'lost', 1],
    ['[no answer]', 'lost', 1],
    ['[late answer]', 200, 1],
  ])('chooses with %s the answer %s', async (word, status, tasks) => {
    const frames = [{ prompt: 'A lake' }, { prompt: `Rain ${word}` }];
    const leaving = new AbortController();
    const asking = fetch(`${url}/video/multiframe`, {
      method: 'POST',
      headers: { authorization: 'Token video-key' },
      signal: leaving.signal,
      body: JSON.stringify({ model: 'vidq2-pro', image_settings: frames, callback_url: hook }),
    }).catch(() => ({ status: 'lost' }));
    if (word === '[no answer]') {
      await until(() => notified.length === 3);
      leaving.abort();
    }
    const answer = await asking;

    expect([answer.status, simulation.tasks.list.length]).toEqual([status, tasks]);
    if (word === '[late answer]') expect(notified.at(-1)).toMatchObject({ state: 'success' });
  });
});

test.each([
  ['negative seconds', { prompt: 'A lake', duration: -1 }],
  ['neither text nor a picture', { model: 'vidq3-pro' }],
  ['an unknown field', { prompt: 'A lake', seeds: 1 }],
  ['more seconds than there are credits', { prompt: 'A lake', duration: 250_001 }],
  ['a film that no task has made', { prompt: 'A lake', video_creation_id: '1' }],
])('a request costs nothing with %s, and fails', async (_, body) => {
  const answer = await video(body);

  expect([answer.status, await answer.json()]).toMatchObject([400, { reason: expect.any(String) }]);
  expect(simulation.credits).toBe(1_000_000);
});

test('a misbehavior of a poll spares a purchase', async () => {
  await post('/control/misbehave', { kind: 'status', method: 'GET', status: 500 });
  const { task_id } = await contentOf<{ task_id: string }>(video({ prompt: 'Rain' }));
  const headers = { authorization: 'Token video-key' };
  const poll = async () => (await fetch(`${url}/video/tasks/${task_id}/creations`, { headers })).status;

  expect([await poll(), await poll()]).toEqual([500, 200]);
});
