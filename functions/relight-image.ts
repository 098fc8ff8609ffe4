// POST /proxy/image-provider/v1/ai/image-relight
import { relightImage } from '../lib/contracts/relight-image.ts';
import { paidEndpoint } from '../lib/http/paid-endpoint.ts';
import { imageProvider, relightReply } from '../lib/providers/image-provider.ts';

export const handler = paidEndpoint(relightImage, {
  provider: imageProvider,
  path: '/v1/ai/image-relight',
  body: (request) => request,
  reply: relightReply,
});
