import { describe, expect, test } from '@jest/globals';
import { invoke, sampleBody } from '../../support/invoke.ts';
import { type ProxyName, proxies, proxyNames, simulation } from '../../support/proxies.ts';

const send = (name: ProxyName, body: object) => invoke(proxies[name], name, { body });

const url = 'https://example.com/a.png';
const model = 'vidq2-pro';

/** Requests that would be accepted without their misspelled field. */
const misspelled: [ProxyName, object, path: string, meant: string][] = [
  ['text-to-video', { model: 'vidq3-pro', promt: 'x' }, 'promt', 'prompt'],
  ['text-to-video', { promtp: 'x' }, 'promtp', 'prompt'],
  ['text-to-video', { prompt: '', Prompt: 'x' }, 'Prompt', 'prompt'],
  ['text-to-video', { durration: 5 }, 'durration', 'duration'],
  ['text-to-video', { duratino: 5 }, 'duratino', 'duration'],
  ['text-to-video', { stile: 'anime' }, 'stile', 'style'],
  ['text-to-video', { SEED: 7 }, 'SEED', 'seed'],
  ['text-to-video', { image: url }, 'image', 'images'],
  ['text-to-video', { sed: 7 }, 'sed', 'seed'],
  ['text-to-video', { eed: 7 }, 'eed', 'seed'],
  ['text-to-video', { img: [url] }, 'img', 'images'],
  ['text-to-video', { model_name: 'vidq3-pro' }, 'model_name', 'model'],
  ['text-to-video', { modelId: 'vidq3-pro' }, 'modelId', 'model'],
  ['text-to-video', { callback: url }, 'callback', 'callback_url'],
  ['text-to-video', { callback_uri: url }, 'callback_uri', 'callback_url'],
  ['text-to-video', { voice: 'x' }, 'voice', 'voice_id'],
  ['relight-image', { image: url, webhook: url }, 'webhook', 'webhook_url'],
  ['text-to-video', { callbackUrl: url }, 'callbackUrl', 'callback_url'],
  ['text-to-video', { 'aspect-ratio': '16:9' }, 'aspect-ratio', 'aspect_ratio'],
  ['relight-image', { image: url, stile: 'clean' }, 'stile', 'style'],
  ['relight-image', { image: url, preserve_detail: false }, 'preserve_detail', 'preserve_details'],
  [
    'relight-image',
    { image: url, advanced_settings: { brigthnes: 5 } },
    'advanced_settings.brigthnes',
    'brightness',
  ],
  [
    'extend-video',
    { model, video_creation_id: '1', video_url: url, resolutoin: '540p' },
    'resolutoin',
    'resolution',
  ],
  [
    'multiframe-video',
    { model, start_image: url, image_settings: [{ key_image: url }, { key_image: url, promt: 'x' }] },
    'image_settings.1.promt',
    'prompt',
  ],
];

describe('a misspelled field of a paid request', () => {
  test.each(misspelled)('is rejected for %s in %j, and nothing is sent', async (name, body, path, meant) => {
    const { status, body: answer } = await send(name, body);

    expect([status, answer.error]).toEqual([400, 'invalid_request']);
    expect(answer.details).toEqual([
      { path: `body.${path}`, message: `is unknown; did you mean \`${meant}\`?` },
    ]);
    expect(simulation.received).toEqual([]);
  });

  test.each(proxyNames.flatMap((name) => [null, 'text', 7, true, []].map((body) => [name, body] as const)))(
    'is looked for by %s in an object only, not in %j',
    async (name, body) => {
      const { status, body: answer } = await invoke(proxies[name], name, { rawBody: JSON.stringify(body) });

      expect([status, answer.details]).toEqual([400, [{ path: 'body', message: 'must be an object' }]]);
    },
  );

  test('is listed with all other issues of the request', async () => {
    const image_settings = [{ keyimage: url }, { key_image: url, duration: 9, promt: 'x' }];
    const { body } = await send('multiframe-video', { modle: model, start_image: '0', image_settings });

    expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'body.image_settings.0.key_image',
      'body.image_settings.0.keyimage',
      'body.image_settings.1.duration',
      'body.image_settings.1.promt',
      'body.model',
      'body.modle',
      'body.start_image',
    ]);
  });
});

describe('an unknown field of a paid request', () => {
  /** Fields that real programs send, and words that are near a field but mean something of their own. */
  const extras: [ProxyName, object][] = [
    [
      'extend-video',
      { seed: 7, aspect_ratio: '16:9', movement_amplitude: 'auto', style: 'general', bgm: true },
    ],
    [
      'multiframe-video',
      { seed: 7, aspect_ratio: '16:9', prompt: 'x', duration: 5, images: [url], style: 'anime' },
    ],
    [
      'text-to-video',
      { speed: 2, type: 'x', template: 'x', subjects: [], video_url: url, sound: true, ratio: '1:1' },
    ],
    ['relight-image', { seed: 7, model: 'x', size: '1k', num_images: 1, negative_prompt: 'x' }],
    // Near `seed`, `bgm` and `voice_id`, but not near enough.
    ['text-to-video', { need: 1, bg: true, id_voice: 'x' }],
    // One edit makes `style` misspelled. Each of these takes two: other letters, half a swap, or a swap and a letter.
    ['text-to-video', { stoke: 'x', stoye: 'x', stloe: 'x', stlya: 'x' }],
  ];

  test.each(extras)('is dropped for %s if it is not a near miss: %j', async (name, extra) => {
    const { status, text } = await send(name, { ...sampleBody(name), ...extra });

    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    const forwarded = Object.keys(simulation.received[0]?.body ?? {});
    expect(forwarded.filter((field) => field in extra)).toEqual([]);
  });

  const videoOperations = proxyNames.filter((name) => name !== 'relight-image');

  test.each(videoOperations)(
    'is dropped for %s if it is a field of another video operation',
    async (name) => {
      const all = Object.assign({}, ...videoOperations.map(sampleBody));
      const { status } = await send(name, { ...all, ...sampleBody(name) });

      expect(status).toBe(200);
    },
  );

  test.each([
    ['next to the field that it resembles', { prompt: 'x', promt: 'y' }],
    ['that is not set', { promt: '', durration: null, image: [] }],
    ['that is far longer than any field', { [`prompt${'x'.repeat(1_000_000)}`]: 'y' }],
  ])('is dropped: %s', async (_, body) => {
    expect((await send('text-to-video', body)).status).toBe(200);
  });

  test.each([
    [99, 400],
    [100, 200],
  ])('is compared only among a bounded number: after %i others the status is %i', async (count, status) => {
    const others = Object.fromEntries(Array.from({ length: count }, (_, index) => [`extra_${index}`, 1]));

    expect((await send('text-to-video', { ...others, promt: 'x' })).status).toBe(status);
  });
});
