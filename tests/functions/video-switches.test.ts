import { describe, expect, test } from '@jest/globals';
import { invoke, sampleBody } from '../support/invoke.ts';
import { proxies, simulation } from '../support/proxies.ts';
import { setVariables } from '../support/variables.ts';

setVariables({
  VIDEO_EXTEND_SOURCE: 'either',
  VIDEO_MODELS_EXTRA: 'vidq4-pro, vidq4-turbo,',
  VIDEO_PROVIDER_MODEL_PREFIX: 'acme',
  PROXY_ACCESS_TOKEN: 'optional',
});

const generate = (body: object, headers = {}) =>
  invoke(proxies['text-to-video'], 'text-to-video', { body, headers });
const extend = (body: object) => invoke(proxies['extend-video'], 'extend-video', { body });

describe('VIDEO_EXTEND_SOURCE=either', () => {
  test.each([
    { video_url: 'https://example.com/boat.mp4' },
    { video_creation_id: '867913241582301184' },
    { video_url: 'https://example.com/boat.mp4', video_creation_id: '867913241582301184' },
  ])('accepts %j', async (source) => {
    const { status } = await extend({ model: 'vidq2-pro', ...source });

    expect(status).toBe(200);
    expect(simulation.received[0]?.body).toMatchObject(source);
  });
});

describe('VIDEO_MODELS_EXTRA', () => {
  test.each(['vidq4-pro', 'vidq4-turbo'])('accepts model %s, with any duration', async (model) => {
    const statuses = [];
    for (const duration of [1, 17]) statuses.push((await generate({ model, duration })).status);

    expect(statuses).toEqual([200, 200]);
  });

  test('adds models to every video operation, and no others', async () => {
    const statuses = [];
    for (const model of ['vidq4-pro', 'vidq5', ''])
      statuses.push((await extend({ ...sampleBody('extend-video'), model })).status);

    expect(statuses).toEqual([200, 400, 400]);
  });
});

describe('VIDEO_PROVIDER_MODEL_PREFIX', () => {
  test('rewrites the model on the way out and back', async () => {
    const { body } = await generate({ model: 'vidq3-pro' });

    expect(simulation.received[0]?.body).toMatchObject({ model: 'acmeq3-pro', audio: true });
    expect(body.model).toBe('vidq3-pro');
  });
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
