import * as z from 'zod/mini';
import * as config from '../config.ts';
import { contract } from '../contract.ts';
import { type Deployed, proxyDeployment } from '../deployment.ts';
import {
  absoluteUrl,
  evenIfFieldsFail,
  optional,
  paidObject,
  reference,
  withDefault,
} from '../schemas/paid-fields.ts';
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

type Source = 'video_url' | 'video_creation_id';

function extendVideoRequest(rules: config.VideoRules) {
  const needs = (field: Source, other: Source) =>
    z.refine<Partial<Record<Source, unknown>>>(
      (request) =>
        rules.VIDEO_EXTEND_SOURCE === 'either' ||
        request[field] !== undefined ||
        request[other] === undefined,
      { path: [field], error: `is required together with ${other}`, ...evenIfFieldsFail },
    );
  return paidObject({
    model: modelName(editingModels, rules),
    callback_url: optional(callbackUrl),
    duration: withDefault(z.int32().check(z.minimum(1), z.maximum(7)), 5).with(
      z.describe('Extended seconds'),
    ),
    images: optional(
      z
        .array(reference.with(z.describe('End frame, in any form that the provider accepts')))
        .check(z.length(1)),
    ).with(z.describe('Reference image for the end frame; exactly 1 image accepted')),
    payload: optional(payload),
    prompt: optional(videoPrompt),
    resolution: optional(editingResolution),
    video_creation_id: optional(
      z.string().with(z.describe('An `id` in `creations` of its task; required together with video_url')),
    ),
    video_url: optional(
      absoluteUrl.with(z.describe('Any video URL; required together with video_creation_id')),
    ),
  }).check(needs('video_url', 'video_creation_id'), needs('video_creation_id', 'video_url'));
}

const ExtendVideoReply = z
  .object({
    ...taskFields,
    duration: z.optional(z.int32()),
    images: z.optional(z.array(z.string())),
    model: z.optional(z.string()),
    payload: z.optional(z.string()),
    prompt: z.optional(z.string()),
    resolution: z.optional(z.string()),
    video_creation_id: z.optional(z.string()),
    video_url: z.optional(z.string()),
  })
  .with(z.meta({ id: 'ExtendVideoReply' }));

export const extendVideo = contract({
  ...videoOperation,
  name: 'extendVideo',
  path: '/proxy/video-provider/extend',
  summary: 'Extend a video',
  description:
    'Starts a task at the video provider that extends a video. Status updates are sent to callback_url when given.',
  body: extendVideoRequest,
  reply: ExtendVideoReply,
  price: {
    ...pricePerSecond,
    durationsOf: ({ duration }: { duration?: number | undefined }) => [duration],
    maxSeconds: () => 7,
  },
});

export const deployedExtendVideo: Deployed<typeof extendVideo> = {
  contract: extendVideo,
  deployment: () => ({
    ...proxyDeployment(config.videoProvider, config.videoRules),
    sampleReply: {
      ...sampleTask,
      task_id: '867913241582301185',
      credits: 30,
      model: 'vidq2-turbo',
      prompt: 'The boat reaches the sea',
      duration: 5,
      video_creation_id: '867913241582301184-1',
      video_url: 'https://example.com/boat.mp4',
    },
  }),
};
