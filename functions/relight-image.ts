// POST /proxy/image-provider/v1/ai/image-relight
import { relightImage } from '../lib/contracts/relight-image.ts';
import { paidEndpoint } from '../lib/http/paid-endpoint.ts';
import { imageCalls } from '../lib/providers/image-provider.ts';

export const handler = paidEndpoint(relightImage, imageCalls);
