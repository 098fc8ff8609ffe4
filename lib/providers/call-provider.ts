import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json-object.ts';
import { note } from '../log.ts';
import { type AttemptResult, exchange } from './exchange.ts';
import type { Provider } from './provider.ts';
import { errorFor } from './provider-errors.ts';

/** What a call owes to the request it is made for; see lib/http/endpoint.ts. */
export interface CallLimits {
  deadline: number;
  beforeSending: () => Promise<void>;
}

interface PaidRequest extends CallLimits {
  path: string;
  body: object;
}

/** A task that the provider started, with the reply that says so. */
interface StartedTask {
  taskId: string;
  reply: JsonObject;
}

/** The reply must be here by then, however much is left of the invocation. */
const maxReplyMs = 25_000;

/** With less time than this, a task would more likely be paid for than answered. */
const minReplyMs = 1000;

/** A longer wait is the caller's: the Retry-After is passed on. */
const maxRetryAfterMs = 3000;
const retryJitterMs = 400;

/**
 * Sends one paid request and answers with the task that it started.
 *
 * The request is sent once. It is sent a second time only if nothing can have been bought: no connection was made,
 * or the provider answered 429 and asked for a short wait. A 401 or 403 makes the next request read the key again,
 * but this one is not repeated.
 */
export async function callProvider(
  provider: Provider,
  { path, body, deadline, beforeSending }: PaidRequest,
): Promise<StartedTask> {
  const key = await provider.key.read(deadline);
  const bytes = Buffer.from(JSON.stringify(body));
  await beforeSending();
  if (deadline - Date.now() < minReplyMs) throw new ApiError('unavailable', { payment: 'none' });

  const started = Date.now();
  const replyBy = Math.min(deadline, started + maxReplyMs);
  const send = () => exchange(provider, { path, body: bytes, key, timeoutMs: replyBy - Date.now() });
  let attempts = 1;
  let result = await send();
  const wait = waitBeforeRetry(result);
  if (wait !== undefined && Date.now() + wait + minReplyMs <= replyBy) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    attempts += 1;
    result = await send();
  }

  if (result.payment === 'refused' && result.code === 'provider_credentials') provider.key.forget();
  noteCall(provider, result, { attempts, ms: Date.now() - started });
  if (result.payment !== 'taken') throw errorFor(result);
  return result;
}

/** Every task id is logged, so that a task can be found even if its answer never reached the caller. */
function noteCall(
  { name }: Provider,
  result: AttemptResult,
  { attempts, ms }: { attempts: number; ms: number },
) {
  note({
    provider: name,
    provider_ms: ms,
    provider_payment: result.payment,
    ...('status' in result && { provider_status: result.status }),
    ...('taskId' in result && { provider_task_id: result.taskId }),
    ...(attempts > 1 && { provider_attempts: attempts }),
  });
}

/** Milliseconds to wait before a second attempt; undefined if there must be none. */
function waitBeforeRetry(result: AttemptResult): number | undefined {
  const jitter = Math.random() * retryJitterMs;
  if (result.payment === 'not_sent') return jitter;
  if (result.payment !== 'refused' || result.status !== 429 || result.code !== 'provider_busy')
    return undefined;
  const { retryAfterMs } = result;
  return retryAfterMs === undefined || retryAfterMs > maxRetryAfterMs ? undefined : retryAfterMs + jitter;
}
