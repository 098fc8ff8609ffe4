import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { invoke, sampleBody } from '../support/invoke.ts';
import {
  choice,
  type FieldRule,
  flag,
  optionalImage,
  requiredImage,
  testFields,
  webAddress,
  wholeNumber,
} from '../support/test-fields.ts';
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
      const body = { image: url, prompt: '', webhook_url: '', sampler: 'x', advanced_settings: { gamma: 1 } };
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

    test('forwards an image of 4 MB as base64', async () => {
      const image = 'A'.repeat(4 * 1024 * 1024);
      const { status } = await relight({ image });

      expect(status).toBe(200);
      expect(simulation.received[0]?.body.image).toBe(image);
    });
  });

  describe('400', () => {
    test('rejects both light sources at once', async () => {
      const { status, body } = await relight({
        transfer_light_from_lightmap: url,
        transfer_light_from_reference_image: url,
      });

      expect(status).toBe(400);
      expect(body.details).toEqual([
        {
          path: 'body.transfer_light_from_reference_image',
          message: 'cannot be sent together with transfer_light_from_lightmap; send one of them',
        },
      ]);
    });

    test('lists all issues at once, including rules between fields', async () => {
      const { body } = await relight({
        image: 7,
        light_transfer_strength: 101,
        advanced_settings: { whites: -1, engine: 'steam' },
        transfer_light_from_lightmap: url,
        transfer_light_from_reference_image: url,
      });

      expect(body.details.map(({ path }: { path: string }) => path)).toEqual([
        'body.image',
        'body.advanced_settings.whites',
        'body.advanced_settings.engine',
        'body.light_transfer_strength',
        'body.transfer_light_from_reference_image',
      ]);
      expect(simulation.received).toEqual([]);
    });
  });

  describe('401', () => {
    test('rejects a caller without an access token', async () => {
      const { status } = await relight({}, { authorization: undefined });

      expect(status).toBe(401);
      expect(simulation.received).toEqual([]);
    });
  });

  describe('fields of a relight request', () => {
    const badWeight = 'must weight phrases, as in (text:1.2), by 1 to 1.4';
    const prompt: FieldRule = {
      field: 'prompt',
      accepted: [
        ...[
          '(a:1)',
          '(a:1.4) (b:1.0)',
          '((a:1.1) b:1.2)',
          'a: 9',
          'ratio:2) (x',
          'x'.repeat(9000),
          '(a: 1.2 )',
        ],
        ...[
          '(a:+1.)',
          'at 10:30',
          'a:9)',
          '(a):9)',
          '(a:b:1.2)',
          '(a:)',
          '(a:.)',
          '(a (b:1.2):1.3)',
          '(a:9e)',
        ],
        '(at 10:30 in the morning)',
        '(16:9) of a wide and quiet evening by the lake',
        ...['(ratio 16:9)', '(16:9)', '((wide 21:9):1.2)', '(at 12:30)', '(2.39:9)', '(a:1e0)', '(a:14E-1)'],
      ],
      rejected: [
        ...['(a:0.9)', '(a:0.99)', '(a:1.41)', '(a:-1.2)', '(a:.9)', '(a:.95)', '(a:12)', '(a:  1.5  )'],
        ...['(a : 1.5 )', '(a:1.25) and (b:2)', '((a:1.5):1.2)', '((a:1.2) b:1.5)', '(a (b:1.2):1.5)'],
        ...[
          '(a) (b:1.5)',
          '(a:10.25)',
          '(a:.5)',
          '(a:1e9)',
          '(a:1.2E1)',
          '(a:9e-1)',
          '(a:+1e+9)',
          '(a:1e01)',
        ],
        ...['(style2:9)', '(v1.5:9)', '(catch 22:1.9)', '(ratio 16:9) (b:9)'],
      ]
        .map((value): readonly [unknown, string] => [value, badWeight])
        .concat([[5, 'must be text']]),
    };

    testFields('relight-image', [
      requiredImage('image'),
      {
        field: 'advanced_settings',
        accepted: [{}],
        rejected: ['x', [1], 1].map((value) => [value, 'must be an object'] as const),
      },
      wholeNumber('advanced_settings.whites', 0, 100),
      wholeNumber('advanced_settings.blacks', 0, 100),
      wholeNumber('advanced_settings.brightness', 0, 100),
      wholeNumber('advanced_settings.contrast', 0, 100),
      wholeNumber('advanced_settings.saturation', 0, 100),
      choice('advanced_settings.engine', [
        ...['automatic', 'balanced', 'cool', 'real', 'illusio', 'fairy', 'colorful_anime', 'hard_transform'],
        'softy',
      ]),
      choice('advanced_settings.transfer_light_a', [
        ...['automatic', 'low', 'medium', 'normal', 'high', 'high_on_faces'],
      ]),
      choice('advanced_settings.transfer_light_b', [
        ...['automatic', 'composition', 'straight', 'smooth_in', 'smooth_out', 'smooth_both', 'reverse_both'],
        ...['soft_in', 'soft_out', 'soft_mid', 'strong_mid', 'style_shift', 'strong_shift'],
      ]),
      flag('advanced_settings.fixed_generation'),
      flag('change_background', true),
      flag('interpolate_from_original', false),
      wholeNumber('light_transfer_strength', 0, 100, 100),
      flag('preserve_details', true),
      prompt,
      choice(
        'style',
        [
          ...['standard', 'darker_but_realistic', 'clean', 'smooth', 'brighter', 'contrasted_n_hdr'],
          'just_composition',
        ],
        'standard',
      ),
      optionalImage('transfer_light_from_lightmap'),
      optionalImage('transfer_light_from_reference_image'),
      webAddress('webhook_url'),
    ]);
  });
});
