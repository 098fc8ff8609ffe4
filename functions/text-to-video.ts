// POST /proxy/video-provider/text2video
import { textToVideo } from '../lib/contracts/text-to-video.ts';
import { paidEndpoint } from '../lib/http/paid-endpoint.ts';
import { videoCalls } from '../lib/providers/video-provider.ts';

export const handler = paidEndpoint(textToVideo, videoCalls);
