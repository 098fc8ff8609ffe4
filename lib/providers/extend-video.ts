import { ExtendVideoReply } from '../schemas/extend-video.ts';
import type { CallLimits } from './call-provider.ts';
import { startVideoTask, type VideoRequest, type VideoTask } from './video-provider.ts';

export function startExtend(request: VideoRequest, limits: CallLimits): Promise<VideoTask> {
  return startVideoTask({ path: '/extend', replyFields: ExtendVideoReply.shape }, request, limits);
}
