import * as z from 'zod/mini';
import * as config from '../config.ts';
import { contract } from '../contract.ts';
import { type Deployed, proxyDeployment } from '../deployment.ts';
import { imageSource, optional, paidObject, reference } from '../schemas/paid-fields.ts';
import {
  callbackUrl,
  editingModels,
  editingResolution,
  modelName,
  payload,
  pricePerSecond,
  taskFields,
  videoOperation,
  videoPrompt,
} from '../schemas/video.ts';
import { sampleTask } from '../schemas/samples.ts';

const ImageSetting = paidObject({
  key_image: optional(reference).with(z.describe('Key frame, in any form that the provider accepts')),
  duration: optional(z.number()).with(z.describe('Seconds up to the key frame')),
  prompt: optional(videoPrompt),
});

function multiframeVideoRequest(rules: config.VideoRules) {
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
  ...videoOperation,
  name: 'multiframeVideo',
  path: '/proxy/video-provider/multiframe',
  summary: 'Generate a video from key frames',
  description:
    'Starts a task at the video provider that joins 2 to 9 key frames to a video. Status updates are sent to callback_url when given.',
  body: multiframeVideoRequest,
  reply: MultiframeVideoReply,
  price: {
    ...pricePerSecond,
    durationsOf: ({ image_settings }: Frames) => image_settings.map(({ duration }) => duration),
    maxSeconds: () => 7,
  },
});

export const deployedMultiframeVideo: Deployed<typeof multiframeVideo> = {
  contract: multiframeVideo,
  deployment: () => ({
    ...proxyDeployment(config.videoProvider, config.videoRules),
    sampleReply: {
      ...sampleTask,
      task_id: '867913241582301186',
      credits: 60,
      model: 'vidq2-pro',
      resolution: '720p',
      start_image: 'https://example.com/first.png',
      image_settings: [
        { key_image: 'https://example.com/second.png', prompt: 'The sun rises', duration: 5 },
        { key_image: 'https://example.com/third.png' },
      ],
    },
  }),
};
