// POST /proxy/video-provider/text2video
import { textToVideo } from '../lib/contracts/text-to-video.ts';
import { paidEndpoint } from '../lib/http/paid-endpoint.ts';
import { videoBody, videoProvider, videoReply } from '../lib/providers/video-provider.ts';

export const handler = paidEndpoint(textToVideo, {
  provider: videoProvider,
  path: '/text2video',
  body: videoBody,
  reply: videoReply,
});
