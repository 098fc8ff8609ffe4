import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { paidErrors, providerErrors } from '../errors.ts';
import { ExtendVideoReply, extendVideoRequest } from '../schemas/extend-video.ts';

export const extendVideo = contract({
  name: 'extendVideo',
  method: 'POST',
  path: '/proxy/video-provider/extend',
  summary: 'Extend a video',
  description:
    'Starts a task at the video provider that extends a video. Status updates are sent to callback_url when given.',
  access: { userUnless: 'PROXY_ACCESS_TOKEN' },
  parameters: z.object({}),
  body: extendVideoRequest,
  reply: ExtendVideoReply,
  status: 200,
  errors: [...paidErrors, ...providerErrors],
  paid: 'by reply',
  notifies: { provider: 'video', field: 'callback_url' },
  idempotent: true,
  secondsOf: ({ duration }: { duration?: number | undefined }) => duration,
});
