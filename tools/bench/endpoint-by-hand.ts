import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { textToVideoRequest } from '../../lib/contracts/text-to-video.ts';

const Request = textToVideoRequest({ VIDEO_MODELS_EXTRA: [], VIDEO_EXTEND_SOURCE: 'both' });

/** The task that both compared endpoints return. */
export function startTask({ prompt }: { prompt?: string | undefined }) {
  return {
    task_id: '867913241582301184',
    state: 'created' as const,
    credits: 4,
    created_at: '2026-11-20T12:00:00Z',
    prompt: String(prompt),
  };
}

/** The minimum of an endpoint: read a request for a video, check it, and return a task. */
export async function handler(event: APIGatewayProxyEventV2) {
  const request = Request.parse(JSON.parse(String(event.body)));
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(startTask(request)),
  };
}
