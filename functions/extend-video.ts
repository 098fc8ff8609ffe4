// POST /proxy/video-provider/extend
import { extendVideo } from '../lib/contracts/extend-video.ts';
import { boundedObject } from '../lib/http/bounded-json.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { startExtend } from '../lib/providers/extend-video.ts';

export const handler = endpoint(extendVideo, async ({ body, deadline, beforeSending }) => {
  const { required, echoes, bought } = await startExtend(body, { deadline, beforeSending });
  return { body: boundedObject(required, echoes), bought };
});
