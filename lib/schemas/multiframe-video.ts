import * as z from 'zod/mini';
import type { VideoRules } from '../video-rules.ts';
import { imageSource, optional } from './media.ts';
import { paidObject } from './paid-object.ts';
import {
  callbackUrl,
  editingModels,
  editingResolutions,
  modelName,
  payload,
  taskFields,
  videoPrompt,
} from './video.ts';

const ImageSetting = paidObject({
  key_image: imageSource.with(z.describe('Base64 data or URL of the key frame')),
  duration: optional(z.int32().check(z.minimum(2), z.maximum(7))).with(
    z.describe('Seconds up to the key frame'),
  ),
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
    resolution: optional(z.enum(editingResolutions)),
  });
}

interface Frames {
  image_settings: { duration?: number | undefined }[];
}

/** The sum over all key frames. How long one without a duration takes is the provider's choice. */
export function secondsOfFrames({ image_settings }: Frames): number | undefined {
  return image_settings.reduce<number | undefined>(
    (sum, { duration }) => (sum === undefined || duration === undefined ? undefined : sum + duration),
    0,
  );
}

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
