// POST /proxy/video-provider/extend
import { extendVideo } from '../lib/contracts/extend-video.ts';
import { videoEndpoint } from '../lib/http/video-endpoint.ts';

export const handler = videoEndpoint(extendVideo);
