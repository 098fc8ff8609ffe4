// POST /proxy/video-provider/extend
import { extendVideo } from '../lib/contracts/extend-video.ts';
import { paidEndpoint } from '../lib/http/paid-endpoint.ts';
import { videoCalls } from '../lib/providers/video-provider.ts';

export const handler = paidEndpoint(extendVideo, videoCalls);
