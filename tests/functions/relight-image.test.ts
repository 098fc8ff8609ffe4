import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { invoke, sampleBody } from '../support/invoke.ts';
import { proxies, simulation } from '../support/proxies.ts';

const handler = proxies['relight-image'];
const relight = (changes = {}, headers = {}) =>
  invoke(handler, 'relight-image', { body: { ...sampleBody('relight-image'), ...changes }, headers });

const url = 'https://example.com/a.png';

const full = {
  image: url,
  advanced_settings: {
    whites: 1,
    blacks: 2,
    brightness: 3,
    contrast: 4,
    saturation: 5,
    engine: 'cool',
    transfer_light_a: 'high',
    transfer_light_b: 'soft_mid',
    fixed_generation: true,
  },
  change_background: false,
  interpolate_from_original: true,
  light_transfer_strength: 0,
  preserve_details: false,
  prompt: 'A (warm:1.2) evening',
  style: 'brighter',
  transfer_light_from_lightmap: 'data:image/png;base64,iVBORw0KGgo=',
  webhook_url: 'https://example.com/hook?id=1',
};

describe('POST /proxy/image-provider/v1/ai/image-relight', () => {
  describe('200', () => {
    test('answers the task that the provider started', async () => {
      const { status, body } = await relight();

      expect(status).toBe(200);
      expect(body).toEqual({
        data: { generated: [], task_id: simulation.received[0]?.taskId, status: 'CREATED' },
      });
    });

    test('forwards every field to the provider', async () => {
      await relight(full);

      expect(simulation.received).toMatchObject([{ provider: 'image', path: '/v1/ai/image-relight' }]);
      expect(simulation.received[0]?.body).toEqual(full);
    });

    test('forwards the defaults, and no unknown or unset field', async () => {
      const body = { image: url, prompt: '', webhook_url: '', sampler: 'x', advanced_settings: {} };
      await invoke(handler, 'relight-image', { body });

      expect(simulation.received[0]?.body).toEqual({
        image: url,
        advanced_settings: {},
        change_background: true,
        interpolate_from_original: false,
        light_transfer_strength: 100,
        preserve_details: true,
        style: 'standard',
      });
    });

    test('sends our key in its own header and none of the request headers', async () => {
      await relight({}, { cookie: 'session=1', 'x-forwarded-for': '1.2.3.4', 'x-api-key': 'of-the-caller' });

      expect(simulation.received[0]?.headers).toEqual({
        'content-type': 'application/json',
        'content-length': expect.any(String),
        accept: 'application/json',
        'accept-encoding': 'identity',
        host: expect.stringMatching(/^localhost:\d+$/),
        connection: 'keep-alive',
        'x-api-key': process.env.IMAGE_PROVIDER_KEY,
      });
    });

    test('never fetches an address that the request names', async () => {
      let visits = 0;
      const server = createServer((_, response) => {
        visits += 1;
        response.end();
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
      const { status } = await relight({ image: address, transfer_light_from_lightmap: address });
      server.close();

      expect([status, visits]).toEqual([200, 0]);
      expect(simulation.received[0]?.body).toMatchObject({ image: address });
    });
  });

  describe('400', () => {
    test('lists all issues at once, including rules between fields', async () => {
      const { body } = await relight({
        image: 7,
        light_transfer_strength: 101,
        advanced_settings: 'cool',
        transfer_light_from_lightmap: url,
        transfer_light_from_reference_image: url,
      });

      expect(body.details.map(({ path }: { path: string }) => path)).toEqual([
        'body.image',
        'body.advanced_settings',
        'body.light_transfer_strength',
        'body.transfer_light_from_reference_image',
      ]);
      expect(simulation.received).toEqual([]);
    });
  });
});
