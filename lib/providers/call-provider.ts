import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { exchange, type Outcome } from './exchange.ts';
import type { JsonObject, Provider } from './provider.ts';
import { errorOf } from './provider-errors.ts';

/** What a call owes to the request behind it; see lib/http/endpoint.ts. */
export interface CallLimits {
  deadline: number;
  beforeSending: () => Promise<void>;
}

interface PaidRequest extends CallLimits {
  path: string;
  body: object;
}

/** A provider's reply must be here by then, whatever is left of the invocation, whose answer it still becomes. */
const replyBoundMs = 25_000;

/** Work that leaves a provider less time than this would rather be paid for than answered. */
const leastReplyMs = 1000;

const retryJitterMs = 400;

/**
 * Sends one paid request and reads its reply with `read`, which returns undefined where it is not one.
 *
 * It is sent once. Only where nothing can have been bought, because no connection came about or the provider
 * said "not now" and when, is it sent a second time. Not after a 401 either, though that is a refusal too: the
 * key is read anew, and the next request has it.
 */
export async function callProvider<Reply>(
  provider: Provider,
  { path, body, deadline, beforeSending }: PaidRequest,
  read: (reply: JsonObject) => Reply | undefined,
): Promise<Reply> {
  const key = await provider.key.read(deadline);
  const bytes = Buffer.from(JSON.stringify(body));
  await beforeSending();
  if (deadline - Date.now() < leastReplyMs) throw new ApiError('unavailable', { settlement: 'refused' });

  const started = Date.now();
  const replyBy = Math.min(deadline, started + replyBoundMs);
  const send = () => exchange(provider, { path, body: bytes, key, timeoutMs: replyBy - Date.now() });
  let attempts = 1;
  let outcome = await send();
  const wait = waitBeforeRetry(outcome);
  if (wait !== undefined && Date.now() + wait + leastReplyMs <= replyBy) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    attempts += 1;
    outcome = await send();
  }

  if (outcome.kind === 'refused' && outcome.status === 401) provider.key.forget();
  note({
    provider: provider.name,
    provider_ms: Date.now() - started,
    provider_outcome: outcome.kind,
    ...('status' in outcome && { provider_status: outcome.status }),
    ...(attempts > 1 && { provider_attempts: attempts }),
  });
  const reply = outcome.kind === 'answered' && outcome.reply ? read(outcome.reply) : undefined;
  if (reply === undefined) throw errorOf(outcome);
  return reply;
}

/** Milliseconds to wait before a second attempt; undefined where there must be none. */
function waitBeforeRetry(outcome: Outcome): number | undefined {
  const jitter = Math.random() * retryJitterMs;
  if (outcome.kind === 'not_sent') return jitter;
  if (outcome.kind !== 'refused' || outcome.code !== 'provider_busy') return undefined;
  return outcome.retryAfterMs === undefined ? undefined : outcome.retryAfterMs + jitter;
}
