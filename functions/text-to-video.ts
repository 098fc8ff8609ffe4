// POST /proxy/video-provider/text2video
import { textToVideo } from '../lib/contracts/text-to-video.ts';
import { boundedObject } from '../lib/http/bounded-json.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { startTextToVideo } from '../lib/providers/text-to-video.ts';

export const handler = endpoint(textToVideo, async ({ body, deadline, beforeSending }) => {
  const { required, echoes, bought } = await startTextToVideo(body, { deadline, beforeSending });
  return { body: boundedObject(required, echoes), bought };
});
