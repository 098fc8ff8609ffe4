import { type Refusal, readAnswer, unendingAnswer } from './read-answer.ts';
import { readText } from './read-text.ts';
import { RegistryError } from './registry-error.ts';
import { type Call, requestOf } from './request.ts';
import type { CallOptions } from './types.ts';

export interface Settings {
  baseUrl: string;
  accessToken: string | (() => string | Promise<string>) | undefined;
  /** How long one attempt may take, its answer read to the end. */
  timeoutMs: number;
  attempts: number;
  /** From the first attempt to the start of the last one. */
  patienceMs: number;
}

const firstPauseMs = 200;
const maxPauseMs = 5_000;
/** More than the service's largest answer, which is 6 MB: others may answer in its place. */
const maxAnswerBytes = 8_000_000;

/** Sends a call, again where that cannot do its work twice, and returns the body of its success. */
export async function send<Data>(settings: Settings, call: Call, options: CallOptions): Promise<Data> {
  const end = Date.now() + settings.patienceMs;
  const { baseUrl, accessToken } = settings;
  const token = typeof accessToken === 'function' ? await accessToken() : accessToken;
  const request = requestOf(baseUrl, token, call, options);
  for (let attempt = 1; ; attempt += 1) {
    const { response, outcome } = await sendOnce(settings, call, request, options.signal);
    const isRefused = 'error' in outcome;
    const pauseMs = isRefused && mayRepeat(call, outcome) ? pauseBefore(attempt, outcome.error) : undefined;
    if (pauseMs === undefined || attempt >= settings.attempts || Date.now() + pauseMs > end) {
      if (response) options.onResponse?.(response);
      if (isRefused) throw outcome.error;
      return outcome.data as Data;
    }
    await pause(pauseMs, options.signal);
  }
}

interface Answer {
  /** Absent without a response. */
  response?: Response;
  outcome: { data: object } | Refusal;
}

async function sendOnce(
  { baseUrl, timeoutMs }: Settings,
  { answer }: Call,
  { url, init }: ReturnType<typeof requestOf>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  let response: Response;
  let text: string | undefined;
  try {
    response = await fetch(url, { ...init, signal: either });
    text = await readText(response, maxAnswerBytes);
  } catch (cause) {
    signal?.throwIfAborted();
    const error = timeout.aborted
      ? new RegistryError('timed_out', `The registry did not answer within ${timeoutMs} ms.`, { cause })
      : new RegistryError('unreachable', `The registry at ${baseUrl} cannot be reached${becauseOf(cause)}.`, {
          cause,
        });
    return { outcome: { error, isFromService: false } };
  }
  if (text === undefined) return { response, outcome: unendingAnswer(response, maxAnswerBytes) };
  return { response, outcome: readAnswer(response, text, { baseUrl, fields: answer }) };
}

const reasons: Record<string, string> = {
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name cannot be looked up now',
  ECONNREFUSED: 'it refuses connections',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  EHOSTUNREACH: 'there is no way to its network',
  ENETUNREACH: 'there is no way to its network',
  UND_ERR_CONNECT_TIMEOUT: 'it did not take the connection in time',
};
const certificate = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Node puts the reason into the cause of its "fetch failed"; browsers tell none. */
function becauseOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  const code = typeof cause?.code === 'string' ? cause.code : '';
  const reason = certificate.test(code) ? 'its certificate is not accepted' : reasons[code];
  return reason === undefined ? '' : `: ${reason} (${code})`;
}

/** Nothing was done: these say so by their meaning. */
const untouched = new Set<string>(['conflict', 'idempotency_in_flight', 'provider_unreachable']);

/**
 * Exactly what the service documents as safe. Final are above all 504, for then the work may have been done, every
 * other 502, and 409 `idempotency_consumed`, which says the same afterwards.
 */
function mayRepeat(call: Call, { error, isFromService }: Refusal): boolean {
  if (isFromService && untouched.has(error.code)) return true;
  const { status, retryAfter } = error;
  if ((status === 429 || status === 503) && retryAfter !== undefined) return true;
  if (isFromService || error.code === 'redirected') return false;
  // The gateway throttles before it calls the function; its 503 can come after one that ran, as a lost answer can.
  if (status === 429) return true;
  return (status === undefined || status === 503) && call.isRepeatable;
}

/**
 * The delay that the service asks for. Otherwise it grows from attempt to attempt, at random so that clients spread.
 */
function pauseBefore(attempt: number, { retryAfter }: RegistryError): number {
  if (retryAfter !== undefined) return retryAfter * 1000;
  return Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
