import { MultiframeVideoReply } from '../schemas/multiframe-video.ts';
import type { CallLimits } from './call-provider.ts';
import { startVideoTask, type VideoRequest, type VideoTask } from './video-provider.ts';

export function startMultiframe(request: VideoRequest, limits: CallLimits): Promise<VideoTask> {
  return startVideoTask({ path: '/multiframe', replyFields: MultiframeVideoReply.shape }, request, limits);
}
