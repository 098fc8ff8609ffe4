import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { paidErrors, providerErrors } from '../errors.ts';
import { TextToVideoReply, textToVideoRequest } from '../schemas/text-to-video.ts';

export const textToVideo = contract({
  name: 'textToVideo',
  method: 'POST',
  path: '/proxy/video-provider/text2video',
  summary: 'Generate a video from text',
  description:
    'Starts a video task at the video provider, from a text and at most one start frame. Status updates are sent to callback_url when given.',
  access: { userUnless: 'PROXY_ACCESS_TOKEN' },
  parameters: z.object({}),
  body: textToVideoRequest,
  reply: TextToVideoReply,
  status: 200,
  errors: [...paidErrors, ...providerErrors],
  paid: 'by reply',
  notifies: { provider: 'video', field: 'callback_url' },
  idempotent: true,
  // A provider may take 0 for its own choice.
  secondsOf: ({ duration }: { duration?: number | undefined }) => duration || undefined,
});
