import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { errorOf } from '@node-registry/testing/client-errors';
import { stopDate } from '@node-registry/testing/clock';
import { createRegistryClient, type OrderRecord, type OrderStore } from '@node-registry/registry-client';
import { until } from '@node-registry/testing/until';
import { handler as deliver } from '../../functions/deliver-notifications.ts';
import { startHttpApi } from '../support/http-api.ts';
import { say } from '../support/notified.ts';
import { acceptedTasks, misbehave, simulation } from '../support/proxies.ts';
import { runQueue } from '../support/queue.ts';
import { pathOf } from '../support/relay.ts';
import { bearer } from '../support/tokens.ts';

/** What is paid once, and what is paid each time; each client asks twice before it gives up. */

const api = await startHttpApi();
const video = { model: 'vidq2-turbo', prompt: 'A paper boat' } as const;
const lost = ['lose the answer', 'lose the answer'] as const;
const hour = 3_600_000;

/** Another one in each test, because the service remembers their keys. */
let order: string;
let records: Map<string, string>;
/** Like `localStorage`: it holds text, and outlives the client. */
const store: OrderStore = {
  read: (name) => JSON.parse(records.get(name) ?? 'null'),
  write: (record) => void records.set(record.order, JSON.stringify(record)),
};
const newClient = (orders?: OrderStore) =>
  createRegistryClient({
    baseUrl: api.url,
    attempts: 2,
    orders,
    accessToken: () => bearer('user-with-orders').replace('Bearer ', ''),
  });
let client = newClient();

beforeEach(() => {
  order = `order-${randomUUID()}`;
  records = new Map();
  client = newClient();
});

const keysSent = () => api.received.map(({ headers }) => headers['idempotency-key']);
const recordOf = (name: string): OrderRecord => JSON.parse(records.get(name) ?? '{}');

async function lostCall(given = {}) {
  api.disturb(...lost);
  return errorOf(client.videos.fromText(video, given));
}

describe('calls without an order', () => {
  test('are purchases of their own: two at once, and another one after a lost answer', async () => {
    await Promise.all([client.videos.fromText(video), client.videos.fromText(video)]);
    const error = await lostCall();
    const other = await client.videos.fromText(video);
    const first = await error.retry?.();

    expect(acceptedTasks()).toBe(4);
    expect(Object(first).task_id).not.toBe(other.task_id);
  });

  test('buy again after a failure of the provider', async () => {
    misbehave({ kind: 'status', provider: 'video', status: 500, times: 1 });
    expect(await errorOf(client.videos.fromText(video))).toMatchObject({ code: 'provider_failed' });

    expect(await client.videos.fromText(video)).toMatchObject({ task_id: expect.any(String) });
  });

  test('are not sent again by an error that is older than the key', async () => {
    stopDate();
    const error = await lostCall();
    jest.setSystemTime(Date.now() + 23 * hour);

    expect(await errorOf(Promise.resolve(error.retry?.()))).toMatchObject({ code: 'order_expired' });
    expect(api.received).toHaveLength(2);
  });
});

describe('calls with one order', () => {
  test('are one purchase, at once and afterwards', async () => {
    const both = await Promise.all([1, 2].map(() => client.videos.fromText(video, { order })));
    const later = await client.videos.fromText(video, { order });

    expect([acceptedTasks(), new Set(keysSent()).size]).toEqual([1, 1]);
    expect(new Set([...both, later].map(({ task_id }) => task_id)).size).toBe(1);
  });

  test('continue one whose answer was lost, also when the second of them runs after the first was ended', async () => {
    await lostCall({ order });
    const stop = new AbortController();
    api.disturb('stay silent');
    const first = client.videos.fromText(video, { order, signal: stop.signal });
    const second = client.videos.fromText(video, { order });
    await until(() => api.received.length === 3);
    stop.abort(new Error('enough'));

    await expect(first).rejects.toThrow('enough');
    expect((await second).task_id).toBe(simulation.tasks.list[0]?.id);
    expect(acceptedTasks()).toBe(1);
  });

  test('are rejected before anything is sent if their requests differ, even at once', async () => {
    const prompts = [video.prompt, 'Rain'];
    const results = await Promise.allSettled(
      prompts.map((prompt) => client.videos.fromText({ ...video, prompt }, { order })),
    );
    const [taken, refused] = results[0]?.status === 'fulfilled' ? [0, 1] : [1, 0];

    expect(results[refused]).toMatchObject({ reason: { code: 'idempotency_mismatch', retry: undefined } });
    expect(api.received).toHaveLength(1);
    await client.videos.fromText({ prompt: String(prompts[taken]), model: video.model }, { order });
  });

  test('may change the request after a rejection, and only if no earlier attempt may have arrived', async () => {
    misbehave({ kind: 'status', provider: 'video', status: 400, times: 1 });
    await errorOf(client.videos.fromText({ ...video, prompt: 'Rain' }, { order }));
    const rejected = { status: 400, body: { error: 'invalid_request' } };
    api.disturb(...lost, rejected);
    await errorOf(client.videos.fromText(video, { order }));
    const again = client.videos.fromText(video, { order });
    expect(await errorOf(again)).toMatchObject({ status: 400, mayBeDone: true });

    const other = client.videos.fromText({ ...video, prompt: 'Rain' }, { order });
    expect(await errorOf(other)).toMatchObject({ code: 'idempotency_mismatch', status: undefined });
    expect(acceptedTasks()).toBe(1);
  });

  test.each([
    ['', {}],
    ['Bestellung Nr. 7', {}],
    ['x'.repeat(256), {}],
    ['7', { idempotencyKey: 'another' }],
  ])('need a name that can be a key, and no key next to it: %j %j', async (name, more) => {
    const call = client.videos.fromText(video, { order: name, ...more });

    expect(await errorOf(call)).toMatchObject({ code: 'invalid_request', details: [{ path: 'order' }] });
    expect(api.received).toEqual([]);
  });
});

describe('a store of orders', () => {
  test('has key, digest, state, task and status URL, and joins calls of other clients', async () => {
    client = newClient(store);
    const { task_id, statusUrl } = await client.videos.fromText(video, { order });
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
    const taken = { order, key: order, digest, state: 'started', taskId: task_id, statusUrl };

    expect(recordOf(order)).toEqual({ ...taken, sentAt: expect.any(Number), credits: expect.any(Number) });
    expect(await newClient(store).videos.fromText(video, { order })).toMatchObject({ task_id });
    expect(acceptedTasks()).toBe(1);
    await client.videos.fromText(video);
    expect([...records.keys()]).toEqual([order]);
  });

  test('knows an order before it is sent, and stops the purchase if it cannot write', async () => {
    const states: string[] = [];
    const write = (record: OrderRecord) => {
      states.push(`${record.state} after ${api.received.length}`);
      store.write(record);
    };
    await newClient({ ...store, write }).videos.fromText(video, { order });
    const full = new Error('The disk is full.');
    const closed = newClient({ ...store, write: () => Promise.reject(full) });
    await expect(closed.videos.fromText(video, { order: 'other' })).rejects.toBe(full);

    expect(states).toEqual(['sent after 0', 'started after 1']);
    expect(api.received).toHaveLength(1);
  });

  test('does not take a film that is paid from its buyer when it fails afterwards', async () => {
    const write = (record: OrderRecord) =>
      record.state === 'sent' ? store.write(record) : Promise.reject(new Error('full'));

    expect(await newClient({ ...store, write }).videos.fromText(video, { order })).toHaveProperty('task_id');
  });

  test.each(['lost', 'answered'])('never sends an order again after 23 hours: %s', async (how) => {
    stopDate();
    client = newClient(store);
    const task = how === 'lost' ? undefined : await client.videos.fromText(video, { order });
    if (how === 'lost') await lostCall({ order });
    const sent = api.received.length;
    jest.setSystemTime(Date.now() + 23 * hour);

    const taskId = task?.task_id;
    for (const more of [{}, { wait: true }].slice(0, task ? 1 : 2)) {
      const late = newClient(store).videos.fromText(video, { order, ...more });
      expect(await errorOf(late)).toMatchObject({ code: 'order_expired', mayBeDone: true, taskId });
    }
    expect(api.received).toHaveLength(sent);
  });

  test('leads to the film for seven days, without another request', async () => {
    stopDate();
    const { task_id } = await newClient(store).videos.fromText(video, { order });
    const creations = [{ id: '1', url: 'https://films.example.com/1.mp4' }];
    await say(pathOf(simulation.received.at(-1)?.body.callback_url), {
      id: task_id,
      state: 'success',
      creations,
    });
    await runQueue(deliver);
    jest.setSystemTime(Date.now() + 24 * hour);
    const film = await newClient(store).videos.fromText(video, { order, wait: true });

    expect(film).toMatchObject({ taskId: task_id, media: [creations[0]?.url], credits: expect.any(Number) });
    expect(recordOf(order).state).toBe('success');
    expect(api.received).toHaveLength(1);
    jest.setSystemTime(Date.now() + 6 * 24 * hour);
    const late = newClient(store).videos.fromText(video, { order, wait: true });
    expect(await errorOf(late)).toMatchObject({ code: 'order_expired', taskId: task_id });
  });
});

describe('an error after sending', () => {
  test('has the key and a retry that pays once, and does not call the registry unreachable', async () => {
    const error = await lostCall();

    expect(error).toMatchObject({ code: 'unreachable', mayBeDone: true, idempotencyKey: keysSent()[0] });
    expect(error.idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
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
