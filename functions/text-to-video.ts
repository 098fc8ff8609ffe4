// POST /proxy/video-provider/text2video
import { textToVideo } from '../lib/contracts/text-to-video.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { startVideoTask } from '../lib/providers/video-provider.ts';

export const handler = endpoint(textToVideo, async ({ body, deadline, beforeSending }) => ({
  body: await startVideoTask('text2video', body, textToVideo.reply, { deadline, beforeSending }),
}));
