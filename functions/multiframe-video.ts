// POST /proxy/video-provider/multiframe
import { multiframeVideo } from '../lib/contracts/multiframe-video.ts';
import { videoEndpoint } from '../lib/http/video-endpoint.ts';

export const handler = videoEndpoint(multiframeVideo);
