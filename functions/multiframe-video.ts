// POST /proxy/video-provider/multiframe
import { multiframeVideo } from '../lib/contracts/multiframe-video.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { startVideoTask } from '../lib/providers/video-provider.ts';

export const handler = endpoint(multiframeVideo, async ({ body, deadline, beforeSending }) => ({
  body: await startVideoTask('multiframe', body, multiframeVideo.reply, { deadline, beforeSending }),
}));
