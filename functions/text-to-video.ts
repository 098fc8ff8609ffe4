// POST /proxy/video-provider/text2video
import { textToVideo } from '../lib/contracts/text-to-video.ts';
import { videoEndpoint } from '../lib/http/video-endpoint.ts';

export const handler = videoEndpoint(textToVideo);
