// POST /proxy/video-provider/multiframe
import { multiframeVideo } from '../lib/contracts/multiframe-video.ts';
import { paidEndpoint } from '../lib/http/paid-endpoint.ts';
import { videoCalls } from '../lib/providers/video-provider.ts';

export const handler = paidEndpoint(multiframeVideo, videoCalls);
