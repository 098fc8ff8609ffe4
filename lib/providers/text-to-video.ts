import { TextToVideoReply } from '../schemas/text-to-video.ts';
import type { CallLimits } from './call-provider.ts';
import { startVideoTask, type VideoRequest, type VideoTask } from './video-provider.ts';

export function startTextToVideo(request: VideoRequest, limits: CallLimits): Promise<VideoTask> {
  return startVideoTask({ path: '/text2video', replyFields: TextToVideoReply.shape }, request, limits);
}
