import { describe, expect, jest, test } from '@jest/globals';
import { stopTimers } from '@node-registry/testing/clock';
import { until } from '@node-registry/testing/until';
import { serve } from '../support/serve.ts';
import { invoke, sampleBody, sampleEvent } from '../support/invoke.ts';
import { lines } from '../support/logged-lines.ts';
import { misbehave, type ProxyName, proxies, proxyNames, simulation } from '../support/proxies.ts';
import { setVariables } from '../support/variables.ts';

const send = (name: ProxyName, body: object = {}, headers = {}) =>
  invoke(proxies[name], name, { body: { ...sampleBody(name), ...body }, headers });
const generate = (body: object, headers = {}) => send('text-to-video', body, headers);

// Each field by itself, defaults, echoes and what is rejected: tests/contract.
describe('a paid operation', () => {
  test.each([
    ['text-to-video', 'authorization', `Token ${process.env.VIDEO_PROVIDER_KEY}`, {}],
    ['relight-image', 'x-api-key', process.env.IMAGE_PROVIDER_KEY, {}],
    ['relight-image', 'x-a', `B ${process.env.IMAGE_PROVIDER_KEY}`, { IMAGE_PROVIDER_KEY_HEADER: 'x-a: B' }],
  ])('sends our key for %s as %s, and none of the request headers', async (name, header, key, variables) => {
    setVariables(variables);
    await send(name, {}, { cookie: 'session=1', 'x-forwarded-for': '1.2.3.4', 'x-api-key': 'of-the-caller' });

    expect(simulation.received[0]?.headers).toEqual({
      'content-type': 'application/json',
      'content-length': expect.any(String),
      accept: 'application/json',
      'accept-encoding': 'identity',
      connection: 'keep-alive',
      host: expect.stringMatching(/^localhost:\d+$/),
      [header]: key,
    });
  });

  test('leaves out the largest echoes so that the answer stays below 6 MB', async () => {
    const payload = '"'.repeat(600_000);
    const prompt = '\\'.repeat(2000);
    const { status, body, text } = await generate({ payload, prompt, images: ['A'.repeat(4_300_000)] });

    expect(status).toBe(200);
    expect(body).toMatchObject({ task_id: expect.any(String), prompt });
    expect(body.payload === payload).toBe(true);
    expect(body).not.toHaveProperty('images');
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(6 * 1024 * 1024);
  });

  test('never says that nothing was sent once something may have been, however late, and names the task', async () => {
    setVariables({ NOTIFICATIONS: 'relay', NOTIFICATION_URL: 'https://api.example.com/notifications' });
    stopTimers();
    misbehave({ kind: 'stall' });
    const answer = generate({});
    await until(() => simulation.received.length > 0);
    jest.advanceTimersByTime(29_000);
    const { status, body, headers } = await answer;

    expect([status, body.error]).toEqual([504, 'provider_timeout']);
    expect(headers.link).toMatch(/rel="status"$/);
  });

  test('answers the task that the provider started, and fetches no address that the request names', async () => {
    let visits = 0;
    const server = await serve((_, response) => {
      visits += 1;
      response.end();
    });
    const image = `${server.url}/a.png`;
    const { body } = await send('relight-image', { image, transfer_light_from_lightmap: image });

    const [sent] = simulation.received;
    expect(body).toEqual({ data: { generated: [], task_id: sent?.taskId, status: 'CREATED' } });
    expect([sent?.body.image, visits]).toEqual([image, 0]);
  });
});

describe.each(proxyNames)('%s', (name) => {
  test('calls the provider of its own path, at the rest of that path', async () => {
    await send(name);

    const called = simulation.received.map(({ provider, path }) => `/proxy/${provider}-provider${path}`);
    expect(called).toEqual([sampleEvent(name).rawPath]);
  });

  // That its key belongs to one caller, operation and request: tests/lib/http/endpoint.test.ts.
  test('names unknown fields in the response and in its replay, and forwards none', async () => {
    const headers = { 'idempotency-key': `${name}-ignored` };
    const sent = { negative_prompts: 'fog', unset: null };
    const [first, again] = [await send(name, sent, headers), await send(name, sent, headers)];

    const { 'x-credits-used': _, ...kept } = first.headers;
    expect(again).toEqual({ ...first, headers: { ...kept, 'idempotent-replayed': 'true' } });
    expect(lines('request').at(-1)).toMatchObject({ idempotent_replay: true });
    for (const { headers } of [first, again]) expect(headers['x-ignored-fields']).toBe('"negative_prompts"');
    expect(simulation.received.map(({ body }) => 'negative_prompts' in body)).toEqual([false]);
  });
});

describe('the variables of a stage', () => {
  test.each(proxyNames.filter((name) => name.endsWith('-video')))('add models to %s', async (name) => {
    setVariables({ VIDEO_MODELS_EXTRA: 'vidq4-pro, vidq4-turbo,' });
    const statuses = [];
    for (const model of ['vidq4-pro', 'vidq4-turbo', 'vidq5'])
      statuses.push((await send(name, { model })).status);

    expect(statuses).toEqual([200, 200, 400]);
    // Nothing is known of its durations.
    expect((await generate({ model: 'vidq4-pro', duration: 17 })).status).toBe(200);
  });

  test('rewrite the model on the way out and back', async () => {
    setVariables({ VIDEO_PROVIDER_MODEL_PREFIX: 'acme' });
    const { body } = await generate({ model: 'vidq3-pro' });
    await generate({ model: 'vid2.0' });

    expect(body.model).toBe('vidq3-pro');
    expect(simulation.received).toMatchObject([
      { body: { model: 'acmeq3-pro', audio: true } },
      { body: { model: 'acme2.0' } },
    ]);
  });

  test.each([
    ['text-to-video', undefined, 200],
    ['text-to-video', 'Bearer a.b.c', 401],
    ['relight-image', undefined, 401],
  ])('let callers of the video operations come without a token: %s, %s, %i', async (name, token, status) => {
    setVariables({ PROXY_ACCESS_TOKEN: 'optional' });

    expect((await send(name, {}, { authorization: token })).status).toBe(status);
  });
});
