import * as z from 'zod/mini';
import type { VideoRules } from '../config.ts';
import { contract } from '../contract.ts';
import { paidErrors, providerErrors } from '../errors.ts';
import { imageSource, optional, paidObject, reference } from '../schemas/paid-fields.ts';
import {
  callbackUrl,
  editingModels,
  editingResolution,
  modelName,
  payload,
  taskFields,
  videoPrompt,
} from '../schemas/video.ts';

const ImageSetting = paidObject({
  key_image: optional(reference).with(z.describe('Key frame, in any form that the provider accepts')),
  duration: optional(z.number()).with(z.describe('Seconds up to the key frame')),
  prompt: optional(videoPrompt),
});

export function multiframeVideoRequest(rules: VideoRules) {
  return paidObject({
    image_settings: z
      .array(ImageSetting)
      .check(z.minLength(2), z.maxLength(9))
      .with(z.describe('The key frames after the first frame')),
    model: modelName(editingModels, rules),
    start_image: imageSource.with(z.describe('First frame; Base64 data or URL')),
    callback_url: optional(callbackUrl),
    payload: optional(payload),
    resolution: optional(editingResolution),
  });
}

interface Frames {
  image_settings: { duration?: number | undefined }[];
}

/**
 * The sum over all key frames, in whole seconds. Undefined if one has no duration of its own, which is then the
 * provider's choice; one of 0 or less must not make the task look cheaper.
 */
export function secondsOfFrames({ image_settings }: Frames): number | undefined {
  let sum = 0;
  for (const { duration } of image_settings) {
    if (duration === undefined || duration <= 0) return undefined;
    sum += duration;
  }
  return Math.min(Math.ceil(sum), maxSeconds);
}

/** More than any task lasts, and still a number that a record can hold. */
const maxSeconds = 2 ** 31 - 1;

export const MultiframeVideoReply = z
  .object({
    ...taskFields,
    image_settings: z.optional(
      z.array(
        z.object({
          key_image: z.optional(z.string()),
          duration: z.optional(z.number()),
          prompt: z.optional(z.string()),
        }),
      ),
    ),
    model: z.optional(z.string()),
    payload: z.optional(z.string()),
    resolution: z.optional(z.string()),
    start_image: z.optional(z.string()),
  })
  .with(z.meta({ id: 'MultiframeVideoReply' }));

export const multiframeVideo = contract({
  name: 'multiframeVideo',
  method: 'POST',
  path: '/proxy/video-provider/multiframe',
  summary: 'Generate a video from key frames',
  description:
    'Starts a task at the video provider that joins 2 to 9 key frames to a video. Status updates are sent to callback_url when given.',
  access: { userUnless: 'PROXY_ACCESS_TOKEN' },
  parameters: z.object({}),
  body: multiframeVideoRequest,
  reply: MultiframeVideoReply,
  status: 200,
  errors: [...paidErrors, ...providerErrors],
  paid: 'by reply',
  notifies: { provider: 'video', field: 'callback_url' },
  idempotent: true,
  secondsOf: secondsOfFrames,
  framesOf: ({ image_settings }: { image_settings: unknown[] }) => image_settings.length,
});
