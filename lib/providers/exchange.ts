import type { ErrorCode, ErrorDetail } from '../errors.ts';
import { type HttpReply, httpRequest, TransportError } from '../http-request.ts';
import { isObject, type JsonObject, type Provider } from './provider.ts';
import { cleanText } from './provider-text.ts';
import { readRetryAfter } from './retry-after.ts';

/**
 * How one attempt ended, as far as money is concerned: nothing left this machine; the provider said that it
 * takes nothing; it gave its final answer, good or bad (`reply` is there where it could be read); or it may
 * have taken the request and nobody can tell.
 */
export type Outcome =
  | { kind: 'not_sent'; cause: unknown }
  | {
      kind: 'refused';
      status: number;
      code: ErrorCode;
      text: string;
      details: ErrorDetail[];
      retryAfterMs: number | undefined;
    }
  | { kind: 'answered'; status: number; reply: JsonObject | undefined }
  | { kind: 'unknown'; timedOut: boolean; cause: unknown };

interface Attempt {
  path: string;
  body: Buffer;
  key: string;
  timeoutMs: number;
}

/** The statuses by which a provider says that it did not take the request, and what each means to our caller. */
const refusals: Record<number, ErrorCode> = {
  400: 'provider_rejected',
  401: 'provider_credentials',
  402: 'provider_quota',
  403: 'provider_credentials',
  404: 'provider_rejected',
  409: 'provider_rejected',
  413: 'provider_rejected',
  422: 'provider_rejected',
  429: 'provider_busy',
};

const maxReplyBytes = 1024 * 1024;
/** A JSON writer may escape a character that we sent as one byte to the six of `\u003c`. */
const bytesPerEchoedByte = 6;
const maxDetails = 20;

/** Sends one request to a provider, once, and judges what comes back. */
export async function exchange(
  provider: Provider,
  { path, body, key, timeoutMs }: Attempt,
): Promise<Outcome> {
  const { keyHeader, keyScheme } = provider;
  try {
    const reply = await httpRequest({
      url: new URL(provider.url.replace(/\/*$/, path)),
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        [keyHeader]: keyScheme ? `${keyScheme} ${key}` : key,
      },
      body,
      timeoutMs,
      maxReplyBytes: maxReplyBytes + (provider.echoesRequest ? bytesPerEchoedByte * body.length : 0),
    });
    return judge(provider, reply, key);
  } catch (cause) {
    if (!(cause instanceof TransportError)) throw cause;
    const { sent, head, reason } = cause;
    if (!sent) return { kind: 'not_sent', cause };
    // A head that came says how it went, even where the body behind it is cut off. Only a success whose body
    // stalls is open: what it would have said is the task that was started.
    if (head && (reason !== 'timeout' || !isSuccess(head.status)))
      return judge(provider, { ...head, body: Buffer.alloc(0) }, key);
    return { kind: 'unknown', timedOut: reason === 'timeout', cause };
  }
}

function judge(provider: Provider, { status, headers, body }: HttpReply, key: string): Outcome {
  const content = parseObject(body);
  if (isSuccess(status)) return { kind: 'answered', status, reply: content };
  const { text, details = [], isOutOfCredits } = content ? provider.readFault(content) : {};
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const isBusy = status === 503 && retryAfterMs !== undefined;
  const code = isOutOfCredits ? 'provider_quota' : isBusy ? 'provider_busy' : refusals[status];
  if (code === undefined) return { kind: 'answered', status, reply: undefined };
  return {
    kind: 'refused',
    status,
    code,
    text: cleanText(text, key),
    details: details.slice(0, maxDetails).map((detail) => ({
      path: cleanText(detail.path, key),
      message: cleanText(detail.message, key),
    })),
    retryAfterMs,
  };
}

/** Task ids may be numbers too long for a double, so they are made texts before they are read as numbers. */
const numericTaskId = /("task_id"\s*:\s*)(-?\d+)(?=\s*[,}])/g;

function parseObject(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body).replace(numericTaskId, '$1"$2"'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
