import type * as z from 'zod/mini';
import { extendVideoRequest } from '../../lib/schemas/extend-video.ts';
import { multiframeVideoRequest } from '../../lib/schemas/multiframe-video.ts';
import { RelightRequest } from '../../lib/schemas/relight.ts';
import { textToVideoRequest } from '../../lib/schemas/text-to-video.ts';
import type { VideoRules } from '../../lib/schemas/video.ts';

export const rules: VideoRules = { VIDEO_MODELS_EXTRA: ['vidq9'], VIDEO_EXTEND_SOURCE: 'both' };
export const either: VideoRules = { ...rules, VIDEO_EXTEND_SOURCE: 'either' };
export const url = 'https://example.com/a.png';

export const notAnImage = 'must be an http or https URL, a data URI or base64 data of an image';
export const notAUrl = 'must be an absolute http or https URL';
const type = { text: 'must be text', flag: 'must be true or false', whole: 'must be a whole number' };

/** Values of one field that are taken as they are, and values with what is wrong with them. */
export interface Field {
  taken: readonly unknown[];
  refused: readonly (readonly [unknown, string])[];
}

export const flag: Field = { taken: [true, false], refused: [['true', type.flag]] };
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

export function choice(...taken: string[]): Field {
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

export const percentage = whole(0, 100);
const editingModel = choice('vidq2-pro', 'vidq2-turbo', 'vidq9');
const editingResolution = choice('540p', '720p', '1080p');
const payload = length(1_048_576);
const prompt = length(2000);

export interface Operation {
  schema: z.ZodMiniType;
  least: Record<string, unknown>;
  /** What is answered for the least request: the stated defaults. */
  defaults: Record<string, unknown>;
  fields: Record<string, Field>;
  emptyTexts: readonly string[];
}

export const operations: Record<string, Operation> = {
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
