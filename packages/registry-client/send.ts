import { type Refusal, readAnswer } from './read-answer.ts';
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
  let text: string;
  try {
    response = await fetch(url, { ...init, signal: either });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    const error = timeout.aborted
      ? new RegistryError('timed_out', `The registry did not answer within ${timeoutMs} ms.`, { cause })
      : new RegistryError('unreachable', `The registry at ${baseUrl} cannot be reached.`, { cause });
    return { outcome: { error, isFromService: false } };
  }
  return { response, outcome: readAnswer(response, text, { baseUrl, fields: answer }) };
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
