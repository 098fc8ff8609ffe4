// POST /proxy/video-provider/multiframe
import { multiframeVideo } from '../lib/contracts/multiframe-video.ts';
import { boundedObject } from '../lib/http/bounded-json.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { startMultiframe } from '../lib/providers/multiframe-video.ts';

export const handler = endpoint(multiframeVideo, async ({ body, deadline, beforeSending }) => {
  const { required, echoes, bought } = await startMultiframe(body, { deadline, beforeSending });
  return { body: boundedObject(required, echoes), bought };
});
