import { calling, type Context } from '../context.ts';
import { httpRequest, TransportError } from '../outgoing/http-request.ts';
import { requestHeaders, type Provider } from './provider-call.ts';
import { imageProvider } from './image-provider.ts';
import type { ProviderName } from '../config.ts';
import { videoProvider } from './video-provider.ts';

const providers: Record<ProviderName, () => Provider> = { image: imageProvider, video: videoProvider };

/** The reply about a task. `busy`: stop polling this provider. `failed`: this poll failed, or all do. */
export type PolledTask =
  | { result: 'told'; body: string; contentType: string | undefined }
  | { result: 'busy' | 'failed' | 'untold'; status?: number };

const timeoutMs = 10_000;
/** A reply repeats the request. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** Polls a provider for a task's state. This buys nothing. */
export async function pollTask(context: Context, name: ProviderName, path: string): Promise<PolledTask> {
  const provider = providers[name]();
  const key = await provider.key.read(context);
  try {
    const { status, headers, body } = await calling(context, `${name} provider`, () =>
      httpRequest({
        url: new URL(provider.url.replace(/\/*$/, path)),
        method: 'GET',
        headers: requestHeaders(provider, key),
        timeoutMs: Math.min(timeoutMs, Math.max(1, context.deadline - Date.now())),
        maxReplyBytes: maxAnswerBytes,
      }),
    );
    const isRejectedKey = status === 401 || status === 403;
    if (isRejectedKey) provider.key.forget();
    if (status === 200)
      return { result: 'told', body: body.toString(), contentType: headers['content-type'] };
    if (status === 429) return { result: 'busy', status };
    return { result: isRejectedKey || status >= 500 ? 'failed' : 'untold', status };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return { result: 'failed', ...(error.head && { status: error.head.status }) };
  }
}
