import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type * as z from 'zod/mini';
import { extendVideoRequest } from '../../../lib/schemas/extend-video.ts';
import { multiframeVideoRequest } from '../../../lib/schemas/multiframe-video.ts';
import { textToVideoRequest } from '../../../lib/schemas/text-to-video.ts';
import { videoFormat } from '../../../tools/simulators/video-format.ts';

/* The default ceilings are what docs/spending.md derives: a rate for each second that a request may ask for. */

const creditsPerSecond = 50;
const creditsOfIsRec = 10;
const rules = { VIDEO_MODELS_EXTRA: [], VIDEO_EXTEND_SOURCE: 'both' } as const;
const { params } = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'silent' });
const url = 'https://example.com/a.png';

function entriesOf(list: string): Map<string, number> {
  return new Map(
    list.split(',').map((entry) => {
      const [task = '', credits] = entry.trim().split('=');
      return [task, Number(credits)];
    }),
  );
}

/** The most seconds that a schema lets a request ask for. */
function maxSeconds(schema: z.ZodMiniType, requestFor: (seconds: number) => object): number {
  const all = Array.from({ length: 100 }, (_, index) => index + 1);
  return Math.max(...all.filter((seconds) => schema.safeParse(requestFor(seconds)).success));
}

const textToVideo = textToVideoRequest(rules);
const models = [
  'vidq3-pro',
  'vidq2-pro-fast',
  'vidq2-pro',
  'vidq2-turbo',
  'vidq1',
  'vidq1-classic',
  'vid2.0',
];
const multiframe = (seconds: number) => ({
  model: 'vidq2-pro',
  start_image: url,
  image_settings: Array.from({ length: 9 }, () => ({ key_image: url, duration: seconds })),
});

describe('the default of creditCeilings', () => {
  const defaults = entriesOf(params.default.creditCeilings);

  test.each([undefined, ...models])('covers the longest text to video with is_rec: model %s', (model) => {
    const seconds = maxSeconds(textToVideo, (duration) => ({ model, duration }));
    const ceiling = defaults.get(`textToVideo/${model}`) ?? defaults.get('textToVideo');

    expect(ceiling).toBe(creditsPerSecond * seconds + creditsOfIsRec);
  });

  test('covers the longest extension', () => {
    const ids = { video_creation_id: '1', video_url: url };
    const seconds = maxSeconds(extendVideoRequest(rules), (duration) => ({
      model: 'vidq2-pro',
      duration,
      ...ids,
    }));

    expect(defaults.get('extendVideo')).toBe(creditsPerSecond * seconds);
  });

  test('covers nine frames of the longest duration', () => {
    const seconds = maxSeconds(multiframeVideoRequest(rules), multiframe);

    expect(multiframeVideoRequest(rules).safeParse(multiframe(seconds)).success).toBe(true);
    expect(defaults.get('multiframeVideo')).toBe(creditsPerSecond * 9 * seconds);
  });

  test('counts relight by images', () => {
    expect(defaults.get('relightImage')).toBe(1);
  });
});

test('the local stack has room for the dearest tasks of its simulators', () => {
  const local = entriesOf(params.local.creditCeilings);

  expect(local.get('textToVideo')).toBe(videoFormat.creditsOf({ duration: 16, is_rec: true }));
  expect(local.get('extendVideo')).toBe(videoFormat.creditsOf({ duration: 7 }));
  expect(local.get('multiframeVideo')).toBe(videoFormat.creditsOf(multiframe(7)));
});
