import type { Context } from '../context.ts';
import { TransportError } from '../outgoing/http-request.ts';
import { exchange, type Provider } from './provider-call.ts';
import { imageProvider } from './image-provider.ts';
import type { ProviderName } from '../config.ts';
import { videoProvider } from './video-provider.ts';

const providers: Record<ProviderName, () => Provider> = { image: imageProvider, video: videoProvider };

/** A provider's reply about a task. Without a status, none came; only a 200 says something. */
interface PolledTask {
  status?: number;
  body?: string;
}

const maxMs = 10_000;
/** A reply repeats the request. */
const maxReplyBytes = 8 * 1024 * 1024;

/** Polls a provider for a task's state. This buys nothing. */
export async function pollTask(context: Context, name: ProviderName, path: string): Promise<PolledTask> {
  const provider = providers[name]();
  const key = await provider.key.read(context);
  try {
    const { status, body } = await exchange(context, provider, key, path, {
      method: 'GET',
      timeoutMs: Math.min(maxMs, Math.max(1, context.deadline - Date.now())),
      maxReplyBytes,
    });
    if (status === 401 || status === 403) provider.key.forget();
    return status === 200 ? { status, body: body.toString() } : { status };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return {};
  }
}
