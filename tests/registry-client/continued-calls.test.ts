import { beforeEach, describe, expect, test } from '@jest/globals';
import { errorOf } from '@node-registry/testing/client-errors';
import { handler as deliver } from '../../functions/deliver-notifications.ts';
import { startHttpApi } from '../support/http-api.ts';
import { say } from '../support/notified.ts';
import { acceptedTasks, misbehave, simulation } from '../support/proxies.ts';
import { pathOf } from '../support/relay.ts';
import { runQueue } from '../support/queue.ts';
import { bearer } from '../support/tokens.ts';
import { createRegistryClient } from '@node-registry/registry-client';

/** A paid call whose answers are lost on the way, by a client that has asked for it once. */

const api = await startHttpApi();
const video = { model: 'vidq2-turbo', prompt: 'A paper boat' } as const;
const lost = ['lose the answer', 'lose the answer'] as const;
const newClient = () =>
  createRegistryClient({
    ...{ baseUrl: api.url, attempts: 2 },
    accessToken: bearer('user-of-a-client').replace('Bearer ', ''),
  });
let client = newClient();

beforeEach(() => {
  client = newClient();
});

const keysSent = () => api.received.map(({ headers }) => headers['idempotency-key']);

async function lostCall(given = {}) {
  api.disturb(...lost);
  return errorOf(client.videos.fromText(video, given));
}

describe('an error after sending', () => {
  test('has the key and a retry that pays once, and does not call the registry unreachable', async () => {
    const error = await lostCall();

    expect(error).toMatchObject({ code: 'unreachable', mayBeDone: true, idempotencyKey: keysSent()[0] });
    expect(error.message).toContain(' did not answer');
    expect(await error.retry?.()).toMatchObject({ task_id: expect.any(String) });
    expect([acceptedTasks(), new Set(keysSent()).size]).toEqual([1, 1]);
  });

  test('says that the work may be done even if a later attempt met a closed door', async () => {
    api.disturb('lose the answer', { status: 429, body: { message: 'Too Many Requests' } });
    expect(await errorOf(client.videos.fromText(video))).toMatchObject({ status: 429, mayBeDone: true });

    let asked = 0;
    const closed = (url: string, init: RequestInit) =>
      fetch(asked++ ? url.replace(api.url, 'http://127.0.0.1:2') : url, init);
    api.disturb('lose the answer');
    const error = await errorOf(client.videos.multiframe(Object(video), { fetch: closed }));
    expect(error).toMatchObject({ code: 'unreachable', mayBeDone: true });
    expect(error.message).not.toContain('cannot be reached');
  });

  test('says that nothing is done if the provider rejected it, and keeps no key for the next call', async () => {
    misbehave({ kind: 'status', provider: 'video', status: 400, times: 1 });
    expect(await errorOf(client.videos.fromText(video))).toMatchObject({ status: 400, mayBeDone: false });
    await client.videos.fromText(video);

    expect(new Set(keysSent()).size).toBe(2);
  });

  test('is thrown for an invalid waitMs before anything is sent', async () => {
    const call = client.videos.fromText(video, { wait: true, waitMs: -1 });

    expect(await errorOf(call)).toMatchObject({ code: 'invalid_request', retry: undefined });
    expect(api.received).toEqual([]);
  });

  test('has a retry in the other calls too', async () => {
    api.disturb(...lost);
    const error = await errorOf(client.versions.bulk([{ node_id: 'any', version: '1.0.0' }]));

    expect(await error.retry?.()).toMatchObject([{ status: 'not_found' }]);
  });
});

describe('a call with wait: true whose outcome is unknown', () => {
  const path = () => pathOf(simulation.received.at(-1)?.body.callback_url);
  const says = async (body: object) => {
    await say(path(), { id: simulation.tasks.list.at(-1)?.id, ...body });
    await runQueue(deliver);
  };
  const creations = [{ id: '1', url: 'https://films.example.com/1.mp4' }];

  test.each(['reset', 'truncated'] as const)('waits for the film at its status URL: %s', async (kind) => {
    misbehave({ provider: 'video', kind, times: 1 });
    let ask = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const film = client.videos.fromText(video, {
      wait: true,
      fetch: (url, init) => fetch(url, init).finally(ask),
    });
    await asked;
    await says({ state: 'success', creations });

    expect(await film).toMatchObject({ taskId: simulation.tasks.list[0]?.id, media: [creations[0]?.url] });
    expect(acceptedTasks()).toBe(1);
  });

  test.each<Parameters<typeof api.disturb>>([
    ['lose the answer'],
    [{ status: 500, body: { error: 'internal_error' } }],
    [{ status: 500, body: { message: 'Internal Server Error' } }],
    [{ status: 200, body: 'a page' }],
    [{ status: 504 }],
  ])('asks again with the same key until it has the status URL, after %j', async (disturbance) => {
    api.disturb(disturbance);
    const film = await errorOf(client.videos.fromText(video, { wait: true, waitMs: 0 }));

    expect(film).toMatchObject({ code: 'still_running', statusUrl: expect.any(String) });
    expect([acceptedTasks(), new Set(keysSent()).size, api.received.length]).toEqual([1, 1, 2]);
  });

  test('has its fields when it is still running or has failed, and no URL in the message', async () => {
    const early = await errorOf(client.videos.fromText(video, { wait: true, waitMs: 0 }));
    await says({ state: 'failed', err_code: 'Too dark' });
    const late = await errorOf(Promise.resolve(early.retry?.()));

    const fields = { idempotencyKey: keysSent()[0], taskId: expect.any(String) };
    const message = 'The task has not ended within 0 ms.';
    expect(early).toMatchObject({ code: 'still_running', message, mayBeDone: true, ...fields });
    expect(late).toMatchObject({ code: 'task_failed', message: 'Too dark', mayBeDone: false, ...fields });
    expect(early.statusUrl).toMatch(/^https?:.*\/status\/[\w-]{27}\.json$/);
    expect(late.statusUrl).toBe(early.statusUrl);
  });
});
