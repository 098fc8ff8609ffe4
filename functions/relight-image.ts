// POST /proxy/image-provider/v1/ai/image-relight
import { relightImage } from '../lib/contracts/relight-image.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { startRelight } from '../lib/providers/image-provider.ts';

export const handler = endpoint(relightImage, async ({ body, deadline, beforeSending }) => {
  const { answer, bought } = await startRelight(body, { deadline, beforeSending });
  return { body: answer, bought };
});
