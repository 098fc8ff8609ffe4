import * as z from 'zod/mini';
import * as config from '../config.ts';
import { contract } from '../contract.ts';
import { type Deployed, proxyDeployment } from '../deployment.ts';
import { evenIfFieldsFail, optional, paidObject, reference, withDefault } from '../schemas/paid-fields.ts';
import {
  callbackUrl,
  modelName,
  payload,
  pricePerSecond,
  taskFields,
  videoOperation,
  videoPrompt,
} from '../schemas/video.ts';
import { sampleTask } from '../schemas/samples.ts';

/** The listed models, with the maximum duration in seconds if the interface states one. */
const maxSeconds = new Map<unknown, number | undefined>([
  ['vidq3-pro', 16],
  ['vidq2-pro-fast', 10],
  ['vidq2-pro', 8],
  ['vidq2-turbo', 8],
  ['vidq1', undefined],
  ['vidq1-classic', undefined],
  ['vid2.0', undefined],
]);
const listedModels = [...maxSeconds.keys()].map(String);

const modelWithAudioByDefault = 'vidq3-pro';
const bottomRight = 3;

export function textToVideoRequest(rules: config.VideoRules) {
  return z.pipe(
    paidObject({
      aspect_ratio: optional(z.string().with(z.describe('For example 16:9'))),
      audio: optional(z.boolean()).with(
        z.describe('Enables direct audio-video generation; default true for model vidq3-pro'),
      ),
      audio_type: optional(z.enum(['all', 'speech_only', 'sound_effect_only'])).with(
        z.describe('Applies when audio is true; no effect for q3 model'),
      ),
      bgm: optional(z.boolean()).with(z.describe('Background music; no effect for q3 model')),
      callback_url: optional(callbackUrl),
      duration: optional(z.int32()).with(
        z.describe('Seconds; vidq3-pro 1-16, vidq2-pro-fast 1-10, vidq2-pro and vidq2-turbo 1-8'),
      ),
      enhance: optional(z.boolean()).with(z.describe('Enhances the result, as the provider does')),
      images: optional(
        z
          .array(reference.with(z.describe('Start frame, in any form that the provider accepts')))
          .check(z.maxLength(1)),
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
      priority: optional(z.int32()).with(z.describe('Priority at the provider')),
      prompt: optional(videoPrompt),
      resolution: optional(
        z
          .enum(['360p', '540p', '720p', '1080p', '2K'])
          .with(z.describe('Availability depends on model and duration')),
      ),
      seed: optional(z.int32()).with(z.describe('Random when omitted')),
      style: optional(z.enum(['general', 'anime'])).with(z.describe('Style of the video')),
      voice_id: optional(z.string().with(z.describe('No effect for q3 model'))),
      watermark: withDefault(z.boolean(), false).with(z.describe('Puts a watermark on the video')),
      wm_position: optional(z.int32().check(z.minimum(1), z.maximum(4))).with(
        z.meta({
          description: '1 top left, 2 top right, 3 bottom right (default, with a watermark), 4 bottom left',
          default: bottomRight,
        }),
      ),
      wm_url: optional(
        reference.with(z.describe('Watermark image URL; default watermark used when omitted')),
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
      wm_position: request.wm_position ?? (request.watermark ? bottomRight : undefined),
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

/** The provider checks the duration for unlisted models, and for the model that it chooses itself. */
function durationFits(model: unknown, duration: unknown): boolean {
  const most = maxSeconds.get(model);
  if (typeof duration !== 'number' || most === undefined) return true;
  return duration >= 1 && duration <= most;
}

function durationRule(model: unknown): string {
  return `must be 1 to ${maxSeconds.get(model)} seconds for ${model}`;
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

export const textToVideo = contract({
  ...videoOperation,
  name: 'textToVideo',
  path: '/proxy/video-provider/text2video',
  summary: 'Generate a video from text',
  description:
    'Starts a video task at the video provider, from a text and at most one start frame. Status updates are sent to callback_url when given.',
  body: textToVideoRequest,
  reply: TextToVideoReply,
  price: {
    ...pricePerSecond,
    durationsOf: ({ duration }: { duration?: number | undefined }) => [duration],
    maxSeconds: (model) => maxSeconds.get(model) ?? 16,
    extrasOf: ({ is_rec }: { is_rec?: boolean | undefined }) => (is_rec ? 10 : 0),
  },
});

export const deployedTextToVideo: Deployed<typeof textToVideo> = {
  contract: textToVideo,
  deployment: () => ({
    ...proxyDeployment(config.videoProvider, config.videoRules),
    sampleReply: {
      ...sampleTask,
      task_id: '867913241582301184',
      credits: 30,
      model: 'vidq2-turbo',
      prompt: 'A paper boat sails down a rainy street',
      duration: 5,
      resolution: '720p',
      watermark: false,
    },
  }),
};
