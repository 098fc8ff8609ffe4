import { describe, expect, test } from '@jest/globals';
import type * as z from 'zod/mini';
import { ExtendVideoReply, extendVideoRequest } from '../../../lib/schemas/extend-video.ts';
import { MultiframeVideoReply } from '../../../lib/schemas/multiframe-video.ts';
import { RelightReply } from '../../../lib/schemas/relight.ts';
import { TextToVideoReply, textToVideoRequest } from '../../../lib/schemas/text-to-video.ts';
import { issuesIn } from '../../support/issues-in.ts';
import {
  either,
  notAnImage,
  notAUrl,
  type Operation,
  operations,
  rules,
  url,
} from '../../support/media-fields.ts';

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
      expect(issuesIn(schema, { ...least, [name]: value })).toContain(`body.${name} ${message}`);
    }
  });

  test.each(emptyTexts)('may leave %s empty, which is as if it were not sent', (name) => {
    expect(schema.parse({ ...least, [name]: '' })).toEqual({ ...least, ...defaults });
  });

  test('needs its required fields', () => {
    expect(issuesIn(schema, {}).sort()).toEqual(
      Object.keys(least)
        .map((name) => `body.${name} is required`)
        .sort(),
    );
  });
});

describe.each([['a text'], [null], [7]])('%j in place of a request', (input) => {
  test.each(Object.entries(operations))('of %s is no object, and no more is said', (_name, { schema }) => {
    expect(issuesIn(schema, input)).toEqual(['body must be an object']);
  });
});

describe('images', () => {
  test('are one at most for text to video, and none where the list is empty', () => {
    const { schema } = operations['text to video'] as Operation;

    expect(schema.parse({ images: [url] })).toMatchObject({ images: [url] });
    expect(schema.parse({ images: [] })).toEqual({ watermark: false });
    expect(issuesIn(schema, { images: [url, url] })).toEqual(['body.images must have at most 1 item']);
    expect(issuesIn(schema, { images: ['a.b'] })).toEqual([`body.images.0 ${notAnImage}`]);
  });

  test('are exactly one to extend a video', () => {
    const { schema, least } = operations.extend as Operation;

    expect(schema.parse({ ...least, images: [url] })).toMatchObject({ images: [url] });
    expect(issuesIn(schema, { ...least, images: [] })).toHaveLength(1);
    expect(issuesIn(schema, { ...least, images: [url, url] })).toHaveLength(1);
    expect(issuesIn(schema, { ...least, images: ['a.b'] })).toEqual([`body.images.0 ${notAnImage}`]);
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

    expect(issuesIn(schema, { model, duration: 1 })).toEqual([]);
    expect(issuesIn(schema, { model, duration: most })).toEqual([]);
    expect(issuesIn(schema, { model, duration: 0 })).toEqual([fault]);
    expect(issuesIn(schema, { model, duration: most + 1 })).toEqual([fault]);
  });

  test('is 1 to 16 without a model', () => {
    expect(issuesIn(schema, { duration: 16 })).toEqual([]);
    expect(issuesIn(schema, { duration: 17 })).toEqual(['body.duration must be 1 to 16 seconds']);
  });

  test('is judged beside a fault of another field', () => {
    expect(issuesIn(schema, { model: 'vidq2-pro', duration: 9, seed: 'x' }).sort()).toEqual([
      'body.duration must be 1 to 8 seconds for vidq2-pro',
      'body.seed must be a number',
    ]);
  });

  test('of a wrong type is told once', () => {
    expect(issuesIn(schema, { duration: '5' })).toEqual(['body.duration must be a number']);
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
    expect(issuesIn(schema, { model, video_url: url })).toEqual([idMissing]);
    expect(issuesIn(schema, { model, video_creation_id: 'v1' })).toEqual([urlMissing]);
    expect(issuesIn(schema, { model: 'x', video_url: url })).toContain(idMissing);
    expect(issuesIn(schema, { model: 'x', video_creation_id: 'v1' })).toContain(urlMissing);
    expect(issuesIn(schema, { ...whole, video_url: 'x' })).toEqual([`body.video_url ${notAUrl}`]);
    expect(issuesIn(schema, { ...whole, video_creation_id: 1 })).toEqual([
      'body.video_creation_id must be text',
    ]);
  });

  test('may be given by one of them where the operator says so', () => {
    const schema = extendVideoRequest(either);

    expect(issuesIn(schema, { model, video_url: url })).toEqual([]);
    expect(issuesIn(schema, { model, video_creation_id: 'v1' })).toEqual([]);
  });
});

describe('the key frames of a multi-frame video', () => {
  const { schema, least } = operations['multi-frame'] as Operation;
  const faultsOfFrames = (image_settings: unknown) => issuesIn(schema, { ...least, image_settings });
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
    expect(issuesIn(ExtendVideoReply, {})).toEqual([
      'body.task_id is required',
      'body.state is required',
      'body.credits is required',
      'body.created_at is required',
    ]);
  });
});
