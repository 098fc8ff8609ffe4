import { describe, expect, test } from '@jest/globals';
import type * as z from 'zod/mini';
import { faultsOf } from '../../lib/faults.ts';
import { ExtendVideoReply, extendVideoRequest } from '../../lib/schemas/extend-video.ts';
import { MultiframeVideoReply, multiframeVideoRequest } from '../../lib/schemas/multiframe-video.ts';
import { RelightReply, RelightRequest } from '../../lib/schemas/relight.ts';
import { TextToVideoReply, textToVideoRequest } from '../../lib/schemas/text-to-video.ts';
import type { VideoRules } from '../../lib/schemas/video.ts';

const rules: VideoRules = { VIDEO_MODELS_EXTRA: ['vidq9'], VIDEO_EXTEND_SOURCE: 'both' };
const either: VideoRules = { ...rules, VIDEO_EXTEND_SOURCE: 'either' };
const url = 'https://example.com/a.png';

/** The faults of a request as `field message`; none where it is taken. */
function faultsIn(schema: z.ZodMiniType, input: unknown): string[] {
  const { error } = schema.safeParse(input);
  return error ? faultsOf('body', error, input).map(({ path, message }) => `${path} ${message}`) : [];
}

const notAnImage = 'must be an http or https URL, a data URI or base64 data of an image';
const notAUrl = 'must be an absolute http or https URL';
const type = { text: 'must be text', flag: 'must be true or false', whole: 'must be a whole number' };

/** Values of one field that are taken as they are, and values with what is wrong with them. */
interface Field {
  taken: readonly unknown[];
  refused: readonly (readonly [unknown, string])[];
}

const flag: Field = { taken: [true, false], refused: [['true', type.flag]] };
const freeText: Field = { taken: ['x'], refused: [[1, type.text]] };
/** Longer than what is looked at in one go. */
const long = 'aGkh'.repeat(9000);
const image: Field = {
  taken: [
    url,
    'HTTP://example.com',
    'data:image/svg+xml;base64,aGk=',
    'aGk=',
    'a-b_ c\n',
    long,
    `data:image/png;base64,${long}`,
  ],
  refused: [
    [1, type.text],
    ['data:image/png;base64,', notAnImage],
    [`.${long}`, notAnImage],
    [`Ł${long}`, notAnImage],
    [`${long}.`, notAnImage],
    [`xdata:image/png;base64,${long}`, notAnImage],
    ...[
      'http:',
      'https://',
      'ftp://example.com/a.png',
      'data:text/plain;base64,aGk=',
      'a.b',
      ' https://example.com',
    ].map((value) => [value, notAnImage] as const),
  ],
};
const address: Field = {
  taken: [url, 'http://localhost:1/hook?a=b'],
  refused: [
    ['/hook', notAUrl],
    ['ftp://example.com', notAUrl],
    [1, type.text],
  ],
};

function choice(...taken: string[]): Field {
  return { taken, refused: [['another', `must be one of ${taken.join(', ')}`]] };
}

function whole(least: number, most: number): Field {
  return {
    taken: [least, most],
    refused: [
      [least - 1, `must be at least ${least}`],
      [most + 1, `must be at most ${most}`],
      [least + 0.5, type.whole],
      [String(least), 'must be a number'],
    ],
  };
}

function length(most: number): Field {
  return {
    taken: ['x'.repeat(most), '\u{1f3ac}'.repeat(most)],
    refused: [
      ['x'.repeat(most + 1), `must have at most ${most} characters`],
      ['\u{1f3ac}'.repeat(most + 1), `must have at most ${most} characters`],
    ],
  };
}

const percentage = whole(0, 100);
const editingModel = choice('vidq2-pro', 'vidq2-turbo', 'vidq9');
const editingResolution = choice('540p', '720p', '1080p');
const payload = length(1_048_576);
const prompt = length(2000);

interface Operation {
  schema: z.ZodMiniType;
  least: Record<string, unknown>;
  /** What is answered for the least request: the stated defaults. */
  defaults: Record<string, unknown>;
  fields: Record<string, Field>;
  emptyTexts: readonly string[];
}

const operations: Record<string, Operation> = {
  relight: {
    schema: RelightRequest,
    least: { image: url },
    defaults: {
      change_background: true,
      interpolate_from_original: false,
      light_transfer_strength: 100,
      preserve_details: true,
      style: 'standard',
    },
    fields: {
      image,
      change_background: flag,
      interpolate_from_original: flag,
      light_transfer_strength: percentage,
      preserve_details: flag,
      prompt: freeText,
      style: choice(
        'standard',
        'darker_but_realistic',
        'clean',
        'smooth',
        'brighter',
        'contrasted_n_hdr',
        'just_composition',
      ),
      transfer_light_from_lightmap: image,
      transfer_light_from_reference_image: image,
      webhook_url: address,
    },
    emptyTexts: [
      'prompt',
      'transfer_light_from_lightmap',
      'transfer_light_from_reference_image',
      'webhook_url',
    ],
  },
  'text to video': {
    schema: textToVideoRequest(rules),
    least: {},
    defaults: { watermark: false },
    fields: {
      aspect_ratio: length(32),
      audio: flag,
      audio_type: choice('all', 'speech_only', 'sound_effect_only'),
      bgm: flag,
      callback_url: address,
      enhance: flag,
      is_rec: flag,
      meta_data: {
        taken: ['{"a":1}', '1'],
        refused: [
          ['{', 'must be JSON'],
          [{}, type.text],
        ],
      },
      model: choice(
        'vidq3-pro',
        'vidq2-pro-fast',
        'vidq2-pro',
        'vidq2-turbo',
        'vidq1',
        'vidq1-classic',
        'vid2.0',
        'vidq9',
      ),
      movement_amplitude: choice('auto', 'small', 'medium', 'large'),
      off_peak: flag,
      payload,
      priority: { taken: [-1], refused: [[0.5, type.whole]] },
      prompt,
      resolution: choice('360p', '540p', '720p', '1080p', '2K'),
      seed: { taken: [0], refused: [[2 ** 31, 'must be at most 2147483647']] },
      style: choice('general', 'anime'),
      voice_id: freeText,
      watermark: flag,
      wm_position: whole(1, 4),
      wm_url: address,
    },
    emptyTexts: [
      'aspect_ratio',
      'callback_url',
      'meta_data',
      'model',
      'payload',
      'prompt',
      'resolution',
      'voice_id',
      'wm_url',
    ],
  },
  extend: {
    schema: extendVideoRequest(rules),
    least: { model: 'vidq2-pro' },
    defaults: { duration: 5 },
    fields: {
      model: editingModel,
      callback_url: address,
      duration: whole(1, 7),
      payload,
      prompt,
      resolution: editingResolution,
    },
    emptyTexts: ['callback_url', 'payload', 'prompt', 'resolution', 'video_creation_id', 'video_url'],
  },
  'multi-frame': {
    schema: multiframeVideoRequest(rules),
    least: { model: 'vidq2-pro', start_image: url, image_settings: [{ key_image: url }, { key_image: url }] },
    defaults: {},
    fields: {
      model: editingModel,
      start_image: image,
      callback_url: address,
      payload,
      resolution: editingResolution,
    },
    emptyTexts: ['callback_url', 'payload', 'resolution'],
  },
};

describe.each(Object.entries(operations))('a request of %s', (_name, operation) => {
  const { schema, least, defaults, fields, emptyTexts } = operation;

  test('gets the stated defaults, and loses what no field is for', () => {
    expect(schema.parse({ ...least, surprise: 1 })).toEqual({ ...least, ...defaults });
  });

  test.each(Object.entries(fields))('has a field %s that takes what the interface says', (name, field) => {
    for (const value of field.taken) {
      const { data } = schema.safeParse({ ...least, [name]: value });
      if ((data as Record<string, unknown> | undefined)?.[name] !== value) {
        throw new Error(`${name} does not take ${JSON.stringify(value)?.slice(0, 80)}`);
      }
    }
    for (const [value, message] of field.refused) {
      expect(faultsIn(schema, { ...least, [name]: value })).toContain(`body.${name} ${message}`);
    }
  });

  test.each(emptyTexts)('may leave %s empty, which is as if it were not sent', (name) => {
    expect(schema.parse({ ...least, [name]: '' })).toEqual({ ...least, ...defaults });
  });

  test('needs its required fields', () => {
    expect(faultsIn(schema, {}).sort()).toEqual(
      Object.keys(least)
        .map((name) => `body.${name} is required`)
        .sort(),
    );
  });
});

describe('the advanced settings of a relight', () => {
  const settings: Record<string, Field> = {
    whites: percentage,
    blacks: percentage,
    brightness: percentage,
    contrast: percentage,
    saturation: percentage,
    engine: choice(
      'automatic',
      'balanced',
      'cool',
      'real',
      'illusio',
      'fairy',
      'colorful_anime',
      'hard_transform',
      'softy',
    ),
    transfer_light_a: choice('automatic', 'low', 'medium', 'normal', 'high', 'high_on_faces'),
    transfer_light_b: choice(
      'automatic',
      'composition',
      'straight',
      'smooth_in',
      'smooth_out',
      'smooth_both',
      'reverse_both',
      'soft_in',
      'soft_out',
      'soft_mid',
      'strong_mid',
      'style_shift',
      'strong_shift',
    ),
    fixed_generation: flag,
  };

  test.each(Object.entries(settings))('have %s', (name, { taken, refused }) => {
    for (const value of taken) {
      const sent = { image: url, advanced_settings: { [name]: value } };
      expect(RelightRequest.parse(sent)).toMatchObject(sent);
    }
    for (const [value, message] of refused) {
      const sent = { image: url, advanced_settings: { [name]: value } };
      expect(faultsIn(RelightRequest, sent)).toEqual([`body.advanced_settings.${name} ${message}`]);
    }
  });
});

describe('a prompt of a relight', () => {
  const fault = 'body.prompt must weight phrases, as in (text:1.2), by 1 to 1.4';

  test.each([
    ['(light:1)'],
    ['(light:1.4)'],
    ['(light: 1.2 )'],
    ['(light:+1.)'],
    ['at 10:30'],
    ['a:9)'],
    ['(a):9)'],
    ['(a:b:1.2)'],
    ['(light:)'],
    ['(light:.)'],
    ['(a (b:1.2):1.3)'],
    ['(at 10:30 in the morning)'],
    ['(light:9e)'],
  ])('may be %j', (text) => {
    expect(faultsIn(RelightRequest, { image: url, prompt: text })).toEqual([]);
  });

  test.each([
    ['(light:0.9)'],
    ['(light:1.41)'],
    ['(light:-1.2)'],
    ['(light:.9)'],
    ['(light:.95)'],
    ['(light:12)'],
    ['(light:  1.5  )'],
    ['(light:1.25) and (shade:2)'],
    ['((a:1.5):1.2)'],
    ['(a (b:1.2):1.5)'],
    ['(a) (b:1.5)'],
    ['(light:10.25)'],
  ])('may not be %j', (text) => {
    expect(faultsIn(RelightRequest, { image: url, prompt: text })).toEqual([fault]);
  });
});

describe('both light sources', () => {
  const both = { transfer_light_from_lightmap: url, transfer_light_from_reference_image: url };
  const fault =
    'body.transfer_light_from_reference_image cannot be sent together with transfer_light_from_lightmap; send one of them';

  test('are refused together, whatever else is wrong', () => {
    expect(faultsIn(RelightRequest, { image: url, ...both })).toEqual([fault]);
    expect(faultsIn(RelightRequest, both)).toEqual(['body.image is required', fault]);
  });
});

describe.each([['a text'], [null], [7]])('%j in place of a request', (input) => {
  test.each(Object.entries(operations))('of %s is no object, and no more is said', (_name, { schema }) => {
    expect(faultsIn(schema, input)).toEqual(['body must be an object']);
  });
});

describe('images', () => {
  test('are one at most for text to video, and none where the list is empty', () => {
    const { schema } = operations['text to video'] as Operation;

    expect(schema.parse({ images: [url] })).toMatchObject({ images: [url] });
    expect(schema.parse({ images: [] })).toEqual({ watermark: false });
    expect(faultsIn(schema, { images: [url, url] })).toEqual(['body.images must have at most 1 item']);
    expect(faultsIn(schema, { images: ['a.b'] })).toEqual([`body.images.0 ${notAnImage}`]);
  });

  test('are exactly one to extend a video', () => {
    const { schema, least } = operations.extend as Operation;

    expect(schema.parse({ ...least, images: [url] })).toMatchObject({ images: [url] });
    expect(faultsIn(schema, { ...least, images: [] })).toHaveLength(1);
    expect(faultsIn(schema, { ...least, images: [url, url] })).toHaveLength(1);
    expect(faultsIn(schema, { ...least, images: ['a.b'] })).toEqual([`body.images.0 ${notAnImage}`]);
  });
});

describe('the duration of a video from text', () => {
  const schema = textToVideoRequest(rules);

  test.each([
    ['vidq3-pro', 16],
    ['vidq2-pro-fast', 10],
    ['vidq2-pro', 8],
    ['vidq2-turbo', 8],
    ['vidq1', 16],
    ['vidq1-classic', 16],
    ['vid2.0', 16],
    ['vidq9', 16],
  ])('is 1 to what %s takes: %i', (model, most) => {
    const fault = `body.duration must be 1 to ${most} seconds for ${model}`;

    expect(faultsIn(schema, { model, duration: 1 })).toEqual([]);
    expect(faultsIn(schema, { model, duration: most })).toEqual([]);
    expect(faultsIn(schema, { model, duration: 0 })).toEqual([fault]);
    expect(faultsIn(schema, { model, duration: most + 1 })).toEqual([fault]);
  });

  test('is 1 to 16 without a model', () => {
    expect(faultsIn(schema, { duration: 16 })).toEqual([]);
    expect(faultsIn(schema, { duration: 17 })).toEqual(['body.duration must be 1 to 16 seconds']);
  });

  test('is judged beside a fault of another field', () => {
    expect(faultsIn(schema, { model: 'vidq2-pro', duration: 9, seed: 'x' }).sort()).toEqual([
      'body.duration must be 1 to 8 seconds for vidq2-pro',
      'body.seed must be a number',
    ]);
  });

  test('of a wrong type is told once', () => {
    expect(faultsIn(schema, { duration: '5' })).toEqual(['body.duration must be a number']);
  });
});

describe('audio', () => {
  const schema = textToVideoRequest(rules);

  test('is on for vidq3-pro alone, unless the caller says', () => {
    expect(schema.parse({ model: 'vidq3-pro' })).toEqual({
      model: 'vidq3-pro',
      audio: true,
      watermark: false,
    });
    expect(schema.parse({ model: 'vidq3-pro', audio: false })).toMatchObject({ audio: false });
    expect(schema.parse({ model: 'vidq2-pro' })).toEqual({ model: 'vidq2-pro', watermark: false });
    expect(schema.parse({ model: 'vidq2-pro', audio: true })).toMatchObject({ audio: true });
  });
});

describe('the video to extend', () => {
  const model = 'vidq2-pro';
  const whole = { model, video_url: url, video_creation_id: 'v1' };
  const urlMissing = 'body.video_url is required together with video_creation_id';
  const idMissing = 'body.video_creation_id is required together with video_url';

  test('is given by both fields or by none', () => {
    const schema = extendVideoRequest(rules);

    expect(schema.parse(whole)).toEqual({ ...whole, duration: 5 });
    expect(faultsIn(schema, { model, video_url: url })).toEqual([idMissing]);
    expect(faultsIn(schema, { model, video_creation_id: 'v1' })).toEqual([urlMissing]);
    expect(faultsIn(schema, { model: 'x', video_url: url })).toContain(idMissing);
    expect(faultsIn(schema, { model: 'x', video_creation_id: 'v1' })).toContain(urlMissing);
    expect(faultsIn(schema, { ...whole, video_url: 'x' })).toEqual([`body.video_url ${notAUrl}`]);
    expect(faultsIn(schema, { ...whole, video_creation_id: 1 })).toEqual([
      'body.video_creation_id must be text',
    ]);
  });

  test('may be given by one of them where the operator says so', () => {
    const schema = extendVideoRequest(either);

    expect(faultsIn(schema, { model, video_url: url })).toEqual([]);
    expect(faultsIn(schema, { model, video_creation_id: 'v1' })).toEqual([]);
  });
});

describe('the key frames of a multi-frame video', () => {
  const { schema, least } = operations['multi-frame'] as Operation;
  const faultsOfFrames = (image_settings: unknown) => faultsIn(schema, { ...least, image_settings });
  const frame = { key_image: url, duration: 2, prompt: 'dusk' };

  test('are 2 to 9', () => {
    expect(faultsOfFrames([frame, frame])).toEqual([]);
    expect(faultsOfFrames(Array(9).fill(frame))).toEqual([]);
    expect(faultsOfFrames([frame])).toEqual(['body.image_settings must have at least 2 items']);
    expect(faultsOfFrames(Array(10).fill(frame))).toEqual(['body.image_settings must have at most 9 items']);
  });

  test('have an image, and may have 2 to 7 seconds and a prompt', () => {
    expect(
      schema.parse({ ...least, image_settings: [frame, { ...frame, surprise: 1, prompt: '' }] }),
    ).toEqual({
      ...least,
      image_settings: [frame, { key_image: url, duration: 2 }],
    });
    expect(faultsOfFrames([frame, { ...frame, duration: 7 }])).toEqual([]);
    expect(faultsOfFrames([{}, { ...frame, duration: 1, prompt: 'x'.repeat(2001) }])).toEqual([
      'body.image_settings.0.key_image is required',
      'body.image_settings.1.duration must be at least 2',
      'body.image_settings.1.prompt must have at most 2000 characters',
    ]);
    expect(faultsOfFrames([frame, { ...frame, duration: 8 }])).toEqual([
      'body.image_settings.1.duration must be at most 7',
    ]);
  });
});

describe('an answer', () => {
  const task = { task_id: 't1', state: 'created', credits: 1, created_at: '2026-11-21T10:00:00.123456Z' };
  const echoes = { model: 'm', payload: 'p', resolution: '720p' };
  const answers: [string, z.ZodMiniType, object][] = [
    ['relight', RelightReply, { data: { generated: [url], task_id: 't1', status: 'CREATED' } }],
    [
      'text to video',
      TextToVideoReply,
      {
        ...task,
        ...echoes,
        aspect_ratio: '16:9',
        bgm: true,
        duration: 5,
        images: [url],
        movement_amplitude: 'auto',
        off_peak: true,
        prompt: 'p',
        seed: 1,
        style: 'anime',
        watermark: true,
      },
    ],
    [
      'extend',
      ExtendVideoReply,
      {
        ...task,
        ...echoes,
        duration: 5,
        images: [url],
        prompt: 'p',
        video_creation_id: 'v1',
        video_url: url,
      },
    ],
    [
      'multi-frame',
      MultiframeVideoReply,
      {
        ...task,
        ...echoes,
        image_settings: [{ key_image: url, duration: 2.5, prompt: 'p' }],
        start_image: url,
      },
    ],
  ];

  test.each(answers)('of %s has the fields of the interface', (_name, schema, answer) => {
    expect(schema.parse({ ...answer, surprise: 1 })).toEqual(answer);
  });

  test.each(['created', 'processing', 'queueing', 'success', 'failed'])(
    'may say that a task is %s',
    (state) => {
      expect(ExtendVideoReply.parse({ ...task, state })).toEqual({ ...task, state });
    },
  );

  test.each(['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED'])('may say that a relight is %s', (status) => {
    const data = { generated: [], task_id: 't1', status };

    expect(RelightReply.parse({ data })).toEqual({ data });
  });

  test('of a video needs the task, its state, its price and its time', () => {
    expect(faultsIn(ExtendVideoReply, {})).toEqual([
      'body.task_id is required',
      'body.state is required',
      'body.credits is required',
      'body.created_at is required',
    ]);
  });
});
