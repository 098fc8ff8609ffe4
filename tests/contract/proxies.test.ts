import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { invoke, type Result, sampleBody, sampleEvent } from '../support/invoke.ts';
import { misbehave, type ProxyName, proxies, simulation } from '../support/proxies.ts';
import { setVariables } from '../support/variables.ts';
import {
  anyText,
  eachIs,
  expectRow,
  flag,
  imageSource,
  noList,
  noNumber,
  oneOf,
  required,
  requiredImage,
  type Row,
  type Target,
  texts,
  upTo,
  webAddress,
  wholeNumber,
  writtenNumbers,
} from './fields.ts';

/** The paid operations, in the order of the contract. */

/** Rows by what they quote. */
type Table = Readonly<Record<string, Row>>;

const noAddress = 'must be an absolute URL';

const int32 = wholeNumber(-(2 ** 31), 2 ** 31 - 1);
/** A string without a stated form. */
const reference = 'asset:42|ssupload:?id=1|s3://bucket/a.png|a| |https://example.com/a b|iVBORw0='.split('|');

function send(proxy: ProxyName, body: object): Promise<Result> {
  return invoke(proxies[proxy], proxy, { body });
}

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

type Fields = Record<string, unknown>;

/** The part of a body that has a field, and the name of the field there. */
function placeOf(body: Fields | undefined, field: string): [part: Fields | undefined, name: string] {
  const steps = field.split('.');
  const name = steps.pop() ?? '';
  return [steps.reduce<Fields | undefined>((part, step) => part?.[step] as Fields, body), name];
}

/** Declares the test of each row of a table of fields. */
function rows(proxy: ProxyName, table: Table): void {
  const target: Target = {
    send: (field, value) => {
      const body = sampleBody(proxy);
      const [part = {}, name] = placeOf(body, field);
      part[name] = value;
      // The provider wants a text or a picture.
      return send(proxy, name === 'prompt' && part === body ? { images: ['asset:42'], ...body } : body);
    },
    arrived: (_, field) => {
      const [part, name] = placeOf(simulation.received[0]?.body, field);
      return part?.[name];
    },
    unset: [undefined, null, '', []],
    within: 'body',
  };
  test('has a row for every field of the request', () => {
    const { schema } =
      document.paths[sampleEvent(proxy).rawPath].post.requestBody.content['application/json'];
    const { properties } = document.components.schemas[schema.$ref.split('/').at(-1)];
    const quoted = Object.keys(table).map((quote) => quote.split(' | ')[0]);
    expect(Object.keys(properties).filter((field) => !quoted.includes(field))).toEqual([]);
  });
  for (const [quote, row] of Object.entries(table))
    test(`holds "${quote}"`, () => expectRow(target, quote.split(' | ')[0] ?? '', row));
}

/** Declares the tests of a video answer: each echo of the contract, and what providers send for unset ones. */
function responses(proxy: ProxyName, request: object, echoes: Record<string, unknown>): void {
  const task = { task_id: 'task-1', state: 'created', credits: 20 };
  const answerTo = async (reply: object) => {
    misbehave({ kind: 'text', text: JSON.stringify({ ...task, ...reply }) });
    return (await send(proxy, request)).body;
  };

  test('holds "response: credits, state, task_id (required)", and its optional echoes', async () => {
    const created_at = '2026-01-02T03:04:05.123456Z';

    expect(await answerTo({ ...echoes, created_at, more: 'x' })).toEqual({ ...task, created_at, ...echoes });
  });

  test('holds "optional": an echo that the provider leaves unset is absent', async () => {
    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    // A 0 that was sent is one.
    const fields = Object.keys(echoes).filter((field) => echoes[field] !== 0);

    for (const unset of [null, '', [], [''], 0]) {
      const reply = Object.fromEntries(fields.map((field) => [field, unset]));
      expect([unset, await answerTo(reply)]).toEqual([unset, { ...task, created_at }]);
    }
  });
}

describe('Relight request fields', () => {
  const weights =
    'must weight phrases, as in (text:1.2), by 1 to 1.4; if the number isn’t a weight, leave the parentheses out';
  rows('relight-image', {
    'image | string | yes | Base64 data or URL of the image': requiredImage,
    'advanced_settings | object | no | their types, ranges and allowed values: not shown': {
      takes: [
        { whites: 1, blacks: 2, brightness: 3, contrast: 4, saturation: 5, fixed_generation: true },
        { engine: 'cool', transfer_light_a: 'low', transfer_light_b: 'straight' },
        { whites: -7.5, engine: 'an engine of tomorrow', gamma: null, whites_b: '', constructor: 'x' },
        { nested: { list: [[]] } },
        {},
        writtenNumbers,
      ],
      rejects: eachIs(['x', [1], JSON.rawJSON('1e20')], 'must be an object'),
    },
    'change_background | boolean | no | true': { ...flag, standard: true },
    'interpolate_from_original | boolean | no | false': { ...flag, standard: false },
    'light_transfer_strength | integer | no | 100 | Range 0 to 100': wholeNumber(0, 100, 100),
    'preserve_details | boolean | no | true': { ...flag, standard: true },
    'prompt | string | no | a phrase may be weighted with a number from 1 to 1.4 in the form (text:weight)': {
      takes: [
        'x'.repeat(9000),
        ...'(a:1)|(a:1.4) (b:1.0)|((a:1.1) b:1.2)|(a : 1.2 )|a:9|a:9) (x|(iso:400) photo'.split('|'),
        ...'(:3)|(:1.7)|( :1.7)|(a:-1.7)|(a:1e0)|(a:12)|(16:9)|(1:2)|(chapter 12)'.split('|'),
        ...'(at 12:00)|(2.39:1)|(a:)|(a:.)|(a:b)|(a):1.7)'.split('|'),
      ],
      rejects: [
        ...eachIs('(a:0.99)|(a:1.41)|(cat:1.7)|(a:2)|(a:0)|(a:.9)|(a : 1.5 )|((a:1.2) b:1.5)', weights),
        ...eachIs('((a:1.2):1.5)|(a (b:1.2):1.5)|(a) (b:1.5)|(catch 22:1.9)|(v1:2)', weights),
        ...eachIs('(sun:3)|(v:0.5)|(chapter:2)|(f:2.8)|(太陽:3)', weights),
        ['(iso:400) (b:1.9)', weights],
      ],
    },
    'style | enum | no | standard': oneOf(
      'standard darker_but_realistic clean smooth brighter contrasted_n_hdr just_composition'.split(' '),
      'standard',
    ),
    'transfer_light_from_lightmap | string | no | Base64 data or URL': imageSource,
    'transfer_light_from_reference_image | string | no | Base64 data or URL': imageSource,
    'webhook_url | string, URI | no | Receives notifications when the task changes status': webAddress,
  });

  test.each([
    [
      { generated: ['a', 'b'], task_id: 't' },
      { generated: ['a', 'b'], task_id: 't', status: 'CREATED' },
    ],
    [
      // No double holds all of its digits.
      { generated: null, task_id: JSON.rawJSON('867913241582301184'), status: 'COMPLETED' },
      { generated: [], task_id: '867913241582301184', status: 'COMPLETED' },
    ],
  ])(
    'holds "Relight response: object data (required) with generated (string[]) and task_id": %j',
    async (data, expected) => {
      misbehave({ kind: 'text', text: JSON.stringify({ data }) });

      expect((await send('relight-image', sampleBody('relight-image'))).body).toEqual({ data: expected });
    },
  );
});

const resolutions = ['540p', '720p', '1080p'];
const models = 'vidq3-pro vidq2-pro-fast vidq2-pro vidq2-turbo vidq1 vidq1-classic vid2.0'.split(' ');
const editing = ['vidq2-pro', 'vidq2-turbo'];
const callback: Table = { 'callback_url | string | Callback for task status updates': webAddress };
const payload: Table = {
  'payload | string | Pass-through parameters, max 1048576 characters': upTo(1_048_576),
};
const prompt: Table = { 'prompt | string | Max 2000 characters': upTo(2000) };
const oneImage: Row = {
  takes: reference.map((one) => [one]),
  rejects: [
    [['a', 'b'], 'must have at most 1 item'],
    ['a', noList],
  ],
};

describe('Text-to-video request fields', () => {
  rows('text-to-video', {
    'aspect_ratio | string': anyText,
    'audio | boolean | Enables direct audio-video generation; default true for model vidq3-pro': flag,
    'audio_type | enum | all, speech_only, sound_effect_only': oneOf([
      'all',
      'speech_only',
      'sound_effect_only',
    ]),
    'bgm | boolean | Background music': flag,
    ...callback,
    'duration | integer (int32) | Seconds; vidq2-turbo 1-8': {
      takes: [1, 8],
      rejects: [
        ...eachIs([0, 9], 'must be 1 to 8 seconds for vidq2-turbo'),
        [1.5, texts.isWhole],
        ['5', noNumber],
      ],
    },
    'enhance | boolean': flag,
    'images | string[] | For image-to-video; accepts 1 image as start frame': oneImage,
    'is_rec | boolean | Use recommended prompt; costs 10 additional credits': flag,
    'meta_data | string | JSON-format string of custom metadata': {
      takes: ['{}', '[1]', '"x"', '1'],
      rejects: [...eachIs(['{', 'x'], 'must be JSON'), [{}, texts.isText]],
    },
    'model | string | vidq3-pro, vidq2-pro-fast, vidq2-pro, vidq2-turbo, vidq1, vidq1-classic, vid2.0':
      oneOf(models),
    'movement_amplitude | enum | auto, small, medium, large': oneOf(['auto', 'small', 'medium', 'large']),
    'off_peak | boolean | Lower cost; tasks generated within 48 hours': flag,
    ...payload,
    'priority | integer (int32)': int32,
    ...prompt,
    'resolution | string | 360p, 540p, 720p, 1080p, 2K': oneOf(['360p', '540p', '720p', '1080p', '2K']),
    'seed | integer (int32) | Random when omitted': { ...int32, takes: [...(int32.takes ?? []), 0] },
    'style | enum | general, anime': oneOf(['general', 'anime']),
    'voice_id | string': anyText,
    'watermark | boolean | Default false': { ...flag, standard: false },
    'wm_position | integer (int32) | 1 top left, 2 top right, 3 bottom right (default), 4 bottom left':
      wholeNumber(1, 4),
    'wm_url | string | Watermark image URL; default watermark used when omitted': {
      takes: reference,
      rejects: [[5, texts.isText]],
    },
  });

  test('holds "No field is marked required"', async () => {
    // This provider takes a body without text and picture.
    misbehave({ kind: 'reply' });

    expect((await send('text-to-video', {})).status).toBe(200);
    expect(simulation.received[0]?.body).toEqual({ watermark: false });
  });

  test.each<[model: string | undefined, taken: number[], rejected: number[]]>([
    ['vidq3-pro', [1, 16], [0, 17]],
    ['vidq2-pro-fast', [1, 10], [0, 11]],
    ['vidq2-pro', [1, 8], [0, 9]],
    ['vidq2-turbo', [1, 8], [0, 9]],
    // The provider decides about these.
    ['vidq1', [0, 1000], [2 ** 31]],
    ['vidq1-classic', [0, 1000], [2 ** 31]],
    ['vid2.0', [0, 1000], [2 ** 31]],
    [undefined, [0, 1000], [2 ** 31]],
  ])('holds "Seconds" of model %s: takes %j and rejects %j', async (model, taken, rejected) => {
    const statusOf = async (duration: number) =>
      (await send('text-to-video', { prompt: 'x', model, duration })).status;

    for (const duration of taken) expect([duration, await statusOf(duration)]).toEqual([duration, 200]);
    for (const duration of rejected) expect([duration, await statusOf(duration)]).toEqual([duration, 400]);
    expect(simulation.received).toHaveLength(taken.length);
  });

  test.each<[body: object, sent: object]>([
    [{ model: 'vidq3-pro' }, { audio: true, watermark: false }],
    [{ model: 'vidq3-pro', audio: false }, { watermark: false }],
    [{ watermark: true }, { wm_position: 3 }],
    [{ watermark: true, wm_position: 1 }, {}],
    [{ watermark: true, wm_position: null }, { wm_position: 3 }],
  ])('sends the stated defaults with %j', async (body, sent) => {
    await send('text-to-video', { prompt: 'x', ...body });

    expect(simulation.received[0]?.body).toEqual({ prompt: 'x', ...body, ...sent });
  });

  const echoes = {
    aspect_ratio: 'a',
    bgm: false,
    duration: 5,
    images: ['a'],
    model: 'vidq1',
    off_peak: true,
    movement_amplitude: 'auto',
    payload: 'p',
    prompt: 'q',
    resolution: '720p',
    seed: 0,
    style: 'anime',
    watermark: true,
  };
  responses('text-to-video', { ...echoes }, echoes);
});

describe('Extend request fields', () => {
  rows('extend-video', {
    'model | string | yes | vidq2-pro or vidq2-turbo': required(oneOf(editing), 'vidq3-pro'),
    ...callback,
    'duration | integer (int32) | no | Extended seconds, 1-7, default 5': wholeNumber(1, 7, 5),
    'images | string[] | no | Reference image for the end frame; exactly 1 image accepted': oneImage,
    ...payload,
    ...prompt,
    'resolution | string | no | 540p, 720p, 1080p': oneOf(resolutions),
    'video_creation_id | string | no | Required together with video_url': {
      takes: ['x', ' '],
      isRequired: true,
      rejects: [...eachIs([undefined, null, ''], 'is required together with video_url'), [5, texts.isText]],
    },
    'video_url | string | no | Any video URL; required together with video_creation_id': {
      takes: 'https://a.com/a.mp4|s3://b/a.mp4|ftp://a/b|gs://b/c|asset:42|https://a.b/c d'.split('|'),
      isRequired: true,
      rejects: [
        ...eachIs([undefined, null, ''], 'is required together with video_creation_id'),
        ...eachIs('a.mp4|/a.mp4|//example.com/a.mp4|https://|http:///a|:a', noAddress),
        [5, texts.isText],
      ],
    },
  });

  test.each([{ video_url: 'https://example.com/boat.mp4' }, { video_creation_id: '8' }])(
    'takes %j alone where VIDEO_EXTEND_SOURCE is either',
    async (source) => {
      setVariables({ VIDEO_EXTEND_SOURCE: 'either' });
      expect((await send('extend-video', { model: 'vidq2-pro', ...source })).status).toBe(200);
    },
  );

  test('sends the stated default, and needs no video', async () => {
    await send('extend-video', { model: 'vidq2-pro' });

    expect(simulation.received[0]?.body).toEqual({ model: 'vidq2-pro', duration: 5 });
  });

  const source = { video_creation_id: 'c', video_url: 'https://example.com/a.mp4' };
  responses(
    'extend-video',
    { model: 'vidq2-pro', ...source },
    {
      duration: 5,
      images: ['a'],
      model: 'vidq2-pro',
      payload: 'p',
      prompt: 'q',
      resolution: '540p',
      ...source,
    },
  );
});

describe('Multi-frame request fields', () => {
  const frames = (count: number) => Array.from({ length: count }, () => ({ key_image: 'a' }));
  rows('multiframe-video', {
    'image_settings | object[] | yes | 2 to 9 items; which item fields are required: not shown': {
      takes: [frames(2), frames(9), [{}, {}], [{ duration: 2.5 }, { prompt: 'x' }]],
      isRequired: true,
      rejects: [
        [undefined, 'is required'],
        [frames(1), 'must have at least 2 items'],
        [frames(10), 'must have at most 9 items'],
        [frames(1)[0], noList],
      ],
    },
    'image_settings.0 | object': {
      takes: [{}],
      isRequired: true,
      rejects: eachIs(['x', [], null], 'must be an object'),
    },
    'image_settings.0.key_image | string': { takes: reference, rejects: [[5, texts.isText]] },
    'image_settings.0.duration | number': {
      takes: [1, 2.5, 7, 30, 0.001],
      rejects: eachIs(['5', true], noNumber),
    },
    'image_settings.0.prompt | string | prompt (video): max 2000 characters': upTo(2000),
    'model | string | yes | vidq2-pro or vidq2-turbo': required(oneOf(editing), 'vidq3-pro'),
    'start_image | string | yes | First frame; Base64 data or URL': requiredImage,
    ...callback,
    ...payload,
    'resolution | string | no | 540p, 720p, 1080p': oneOf(resolutions),
  });

  const frame = {
    start_image: 'iVBORw0=',
    image_settings: [{ key_image: 'a', duration: 2.5, prompt: 'q' }, { duration: 0 }],
  };
  responses(
    'multiframe-video',
    { model: 'vidq2-pro', ...frame },
    { model: 'vidq2-pro', payload: 'p', resolution: '540p', ...frame },
  );
});

test('forwards names of the prototype as they came, without effect on the service', async () => {
  const settings = '{"__proto__":{"isAdmin":true},"constructor":{"x":1},"engine":"new"}';
  const rawBody = `{"image":"iVBORw0=","advanced_settings":${settings}}`;
  const { status } = await invoke(proxies['relight-image'], 'relight-image', { rawBody });

  expect(status).toBe(200);
  expect(JSON.stringify(simulation.received[0]?.body.advanced_settings)).toBe(settings);
  expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false);
});

test('holds rule 1: of both light sources at most one', async () => {
  const [first, second] = ['transfer_light_from_lightmap', 'transfer_light_from_reference_image'];
  const image = 'iVBORw0=';
  const { status, body } = await send('relight-image', { image, [first]: image, [second]: image });

  const message = `cannot be sent together with ${first}; send one of them`;
  expect([status, body.details]).toEqual([400, [{ path: `body.${second}`, message }]]);
});

describe('States and transitions', () => {
  test.each([
    ...['created', 'processing', 'queueing', 'success', 'failed'].map((state) => [state, state] as const),
    // What the contract does not have.
    ...['', null, 'paused', 7].map((state) => [state, 'created'] as const),
  ])('answer the state %j of a video task as %s', async (state, shown) => {
    misbehave({ kind: 'reply', fields: { state } });

    expect((await send('text-to-video', {})).body.state).toBe(shown);
  });
});
