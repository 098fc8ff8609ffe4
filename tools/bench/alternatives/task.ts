import { textToVideoRequest } from '../../../lib/schemas/text-to-video.ts';

/** The endpoint of all alternatives: accept a request for a video, check it, and answer with a task. */
export const path = '/proxy/video-provider/text2video';
export const Request = textToVideoRequest({ VIDEO_MODELS_EXTRA: [], VIDEO_EXTEND_SOURCE: 'both' });

export function startTask({ prompt }: { prompt?: string | undefined }) {
  return {
    task_id: '867913241582301184',
    state: 'created' as const,
    credits: 4,
    created_at: '2026-11-20T12:00:00Z',
    prompt: String(prompt),
  };
}
