import { describe, expect, test } from '@jest/globals';
import { invoke, sampleBody } from '../support/invoke.ts';
import { proxies, proxyNames, simulation } from '../support/proxies.ts';
import { setVariables } from '../support/variables.ts';

setVariables({
  VIDEO_MODELS_EXTRA: 'vidq4-pro, vidq4-turbo,',
  VIDEO_PROVIDER_MODEL_PREFIX: 'acme',
  PROXY_ACCESS_TOKEN: 'optional',
  IMAGE_PROVIDER_KEY_HEADER: 'x-image-key: Key',
});

const generate = (body: object, headers = {}) =>
  invoke(proxies['text-to-video'], 'text-to-video', { body: { prompt: 'A boat', ...body }, headers });

describe('VIDEO_MODELS_EXTRA', () => {
  test.each(['vidq4-pro', 'vidq4-turbo'])('accepts model %s, with any duration', async (model) => {
    const statuses = [];
    for (const duration of [1, 17]) statuses.push((await generate({ model, duration })).status);

    expect(statuses).toEqual([200, 200]);
  });

  test.each(proxyNames.filter((name) => name.endsWith('-video')))('adds models to %s', async (name) => {
    const statuses = [];
    for (const model of ['vidq4-pro', 'vidq5'])
      statuses.push((await invoke(proxies[name], name, { body: { ...sampleBody(name), model } })).status);

    expect(statuses).toEqual([200, 400]);
  });
});

describe('VIDEO_PROVIDER_MODEL_PREFIX', () => {
  test('rewrites the model on the way out and back', async () => {
    const { body } = await generate({ model: 'vidq3-pro' });

    expect(simulation.received[0]?.body).toMatchObject({ model: 'acmeq3-pro', audio: true });
    expect(body.model).toBe('vidq3-pro');
    await generate({ model: 'vid2.0' });
    expect(simulation.received[1]?.body).toMatchObject({ model: 'acme2.0' });
  });
});

test('IMAGE_PROVIDER_KEY_HEADER says how the key is sent', async () => {
  await invoke(proxies['relight-image'], 'relight-image');

  expect(simulation.received[0]?.headers).toHaveProperty(
    'x-image-key',
    `Key ${process.env.IMAGE_PROVIDER_KEY}`,
  );
});

describe('PROXY_ACCESS_TOKEN=optional', () => {
  test('accepts callers without a token, and rejects a bad token', async () => {
    expect((await generate({}, { authorization: undefined })).status).toBe(200);
    expect((await generate({}, { authorization: 'Bearer a.b.c' })).status).toBe(401);
  });

  test('does not open relight', async () => {
    const { status } = await invoke(proxies['relight-image'], 'relight-image', {
      headers: { authorization: undefined },
    });

    expect(status).toBe(401);
  });
});
