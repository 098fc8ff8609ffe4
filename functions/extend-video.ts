// POST /proxy/video-provider/extend
import { extendVideo } from '../lib/contracts/extend-video.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { startVideoTask } from '../lib/providers/video-provider.ts';

export const handler = endpoint(extendVideo, async ({ body, deadline, beforeSending }) => ({
  body: await startVideoTask('extend', body, extendVideo.reply, { deadline, beforeSending }),
}));
