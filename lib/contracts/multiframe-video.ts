import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { paidErrors, providerErrors } from '../errors.ts';
import {
  MultiframeVideoReply,
  multiframeVideoRequest,
  secondsOfFrames,
} from '../schemas/multiframe-video.ts';

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
