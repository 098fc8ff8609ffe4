import * as z from 'zod/mini';
import type { VideoRules } from '../video-rules.ts';
import { evenIfFieldsFail, imageSource, optional, text, webAddress, withDefault } from './media.ts';
import { paidObject } from './paid-object.ts';
import { callbackUrl, modelName, payload, taskFields, videoPrompt } from './video.ts';

/** The maximum duration of each listed model in seconds; undefined if the interface states none. */
const maxSecondsByModel = new Map<unknown, number | undefined>([
  ['vidq3-pro', 16],
  ['vidq2-pro-fast', 10],
  ['vidq2-pro', 8],
  ['vidq2-turbo', 8],
  ['vidq1', undefined],
  ['vidq1-classic', undefined],
  ['vid2.0', undefined],
]);
const maxSecondsOfAnyModel = 16;
const listedModels = [...maxSecondsByModel.keys()].map(String);

const modelWithAudioByDefault = 'vidq3-pro';

export function textToVideoRequest(rules: VideoRules) {
  return z.pipe(
    paidObject({
      aspect_ratio: optional(text(32).with(z.describe('Such as 16:9; checked by the provider'))),
      audio: optional(z.boolean()).with(
        z.describe('Enables direct audio-video generation; default true for model vidq3-pro'),
      ),
      audio_type: optional(z.enum(['all', 'speech_only', 'sound_effect_only'])).with(
        z.describe('Applies when audio is true; no effect for q3 model'),
      ),
      bgm: optional(z.boolean()).with(z.describe('Background music; no effect for q3 model')),
      callback_url: optional(callbackUrl),
      duration: optional(z.int32()).with(
        z.meta({
          description: 'Seconds; vidq3-pro 1-16, vidq2-pro-fast 1-10, vidq2-pro and vidq2-turbo 1-8',
          minimum: 1,
          maximum: maxSecondsOfAnyModel,
        }),
      ),
      enhance: optional(z.boolean()),
      images: optional(
        z.array(imageSource.with(z.describe('Base64 data or URL of the start frame'))).check(z.maxLength(1)),
      ).with(z.describe('For image-to-video; accepts 1 image as start frame')),
      is_rec: optional(z.boolean()).with(z.describe('Use recommended prompt; costs 10 additional credits')),
      meta_data: optional(
        z
          .string()
          .check(z.refine(isJson, 'must be JSON'))
          .with(z.describe('JSON-format string of custom metadata')),
      ),
      model: optional(modelName(listedModels, rules)),
      movement_amplitude: optional(z.enum(['auto', 'small', 'medium', 'large'])).with(
        z.describe('No effect for q2 and q3 models'),
      ),
      off_peak: optional(z.boolean()).with(z.describe('Lower cost; tasks generated within 48 hours')),
      payload: optional(payload),
      priority: optional(z.int32()),
      prompt: optional(videoPrompt),
      resolution: optional(
        z
          .enum(['360p', '540p', '720p', '1080p', '2K'])
          .with(z.describe('Availability depends on model and duration')),
      ),
      seed: optional(z.int32()).with(z.describe('Random when omitted')),
      style: optional(z.enum(['general', 'anime'])),
      voice_id: optional(z.string().with(z.describe('No effect for q3 model'))),
      watermark: withDefault(z.boolean(), false),
      wm_position: optional(z.int32().check(z.minimum(1), z.maximum(4))).with(
        z.describe('1 top left, 2 top right, 3 bottom right (default), 4 bottom left'),
      ),
      wm_url: optional(
        webAddress.with(z.describe('Watermark image URL; default watermark used when omitted')),
      ),
    }).check(
      z.refine(({ model, duration }) => durationFits(model, duration), {
        path: ['duration'],
        error: ({ input }) => durationRule((input as { model?: string }).model),
        ...evenIfFieldsFail,
      }),
    ),
    z.transform((request) => ({
      ...request,
      audio: request.audio ?? (request.model === modelWithAudioByDefault ? true : undefined),
    })),
  );
}

export const TextToVideoReply = z
  .object({
    ...taskFields,
    aspect_ratio: z.optional(z.string()),
    bgm: z.optional(z.boolean()),
    duration: z.optional(z.int32()),
    images: z.optional(z.array(z.string())),
    model: z.optional(z.string()),
    movement_amplitude: z.optional(z.string()),
    off_peak: z.optional(z.boolean()),
    payload: z.optional(z.string()),
    prompt: z.optional(z.string()),
    resolution: z.optional(z.string()),
    seed: z.optional(z.int32()),
    style: z.optional(z.string()),
    watermark: z.optional(z.boolean()),
  })
  .with(z.meta({ id: 'TextToVideoReply' }));

function durationFits(model: unknown, duration: unknown): boolean {
  if (typeof duration !== 'number') return true;
  return duration >= 1 && duration <= maxSecondsFor(model);
}

function durationRule(model: unknown): string {
  return `must be 1 to ${maxSecondsFor(model)} seconds${model === undefined ? '' : ` for ${model}`}`;
}

function maxSecondsFor(model: unknown): number {
  return maxSecondsByModel.get(model) ?? maxSecondsOfAnyModel;
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
