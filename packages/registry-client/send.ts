import { readAnswer, readText, type Rejection, unendingAnswer } from './read-answer.ts';
import { addFacts, type Call, requestOf } from './request.ts';
import { RegistryError } from './registry-error.ts';
import { type AccessToken, type Settings, settingsWith } from './settings.ts';
import type { CallOptions } from './types.ts';
import { pause, within } from './within.ts';

const firstPauseMs = 200;
const maxPauseMs = 5_000;
/** A host that refuses connections is probably the wrong one. */
const maxUnsent = 5;
/** More than the service's largest response, which is 6 MB: another server may respond instead. */
const maxAnswerBytes = 8_000_000;

/** Sends a call, repeats it if that can't do its work twice, and returns the body of its success. */
export async function send<Data>(
  clientSettings: Settings,
  call: Call,
  options: CallOptions = {},
): Promise<Data> {
  const settings = settingsWith(clientSettings, options);
  const { signal } = options;
  const newToken = () => tokenOf('accessToken', settings.accessToken, settings.timeoutMs, signal);
  let token = await newToken();
  const sendWithToken = async (): Promise<Answer<object>> => {
    const { url, init } = requestOf(settings, token, call, options);
    const { response, text, lost } = await textAt(settings, url, { ...init, signal }, maxAnswerBytes);
    if (lost) return { outcome: { error: lost, isFromService: false } };
    if (text === undefined) return { response, outcome: unendingAnswer(response, maxAnswerBytes) };
    const { baseUrl } = settings;
    return { response, outcome: readAnswer(response, text, { baseUrl, fields: call.answer }) };
  };
  const { response, data } = await untilDone(settings, signal, {
    async attempt() {
      const answer = await sendWithToken();
      if (typeof settings.accessToken !== 'function' || !isUnauthorized(answer)) return answer;
      token = await newToken();
      return sendWithToken();
    },
    mayRepeat: (rejection) => mayRepeat(call, rejection),
    onRejected: (response) => options.onResponse?.(response),
  }).catch((error: unknown) => {
    if (!(error instanceof RegistryError)) throw error;
    const retry = () => send<Data>(clientSettings, call, options);
    throw addFacts(error, { idempotencyKey: call.headers?.['idempotency-key'], retry });
  });
  if (response) options.onResponse?.(response);
  return data as Data;
}

/** A function of the caller must not hold a call longer than the registry may. */
export async function tokenOf(
  name: 'accessToken' | 'personalAccessToken',
  token: AccessToken | undefined,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (typeof token !== 'function') return token;
  const sentence = `The function ${name} took more than ${timeoutMs} ms.`;
  return within(timeoutMs, signal, token, () => new RegistryError('timed_out', sentence));
}

/** Nothing was done, and the token may have expired on the way. */
function isUnauthorized({ outcome }: Answer<object>): boolean {
  return 'error' in outcome && outcome.isFromService && outcome.error.code === 'unauthorized';
}

export interface Answer<Data> {
  /** Absent without a response. */
  response?: Response | undefined;
  outcome: { data: Data } | Rejection;
}

interface Attempts<Data> {
  attempt: () => Promise<Answer<Data>>;
  mayRepeat: (rejection: Rejection) => boolean;
  /** Receives the response of the last attempt, before its error is thrown. */
  onRejected?: (response: Response) => void;
}

/** Makes attempts until one succeeds, or the last one is rejected. */
export async function untilDone<Data>(
  { attempts, patienceMs, onRetry }: Settings,
  signal: AbortSignal | undefined,
  { attempt, mayRepeat, onRejected }: Attempts<Data>,
): Promise<{ response: Response | undefined; data: Data }> {
  const end = Date.now() + patienceMs;
  let open: RegistryError | undefined;
  for (let made = 1; ; made += 1) {
    const { response, outcome } = await attempt();
    if (!('error' in outcome)) return { response, data: outcome.data };
    const { error } = outcome;
    if (error.mayBeDone) open = error;
    const waitMs = mayRepeat(outcome) ? pauseBefore(made, error) : undefined;
    const isUnsent = error.code === 'unreachable' && !error.mayBeDone;
    const mostAttempts = attempts ?? (isUnsent ? maxUnsent : Number.POSITIVE_INFINITY);
    if (waitMs === undefined || made >= mostAttempts || Date.now() + waitMs > end) {
      if (response) onRejected?.(response);
      // An earlier attempt may have arrived, which a refused connection would hide.
      throw isUnsent && open ? open : addFacts(error, { mayBeDone: open !== undefined });
    }
    onRetry?.({ attempt: made, waitMs, error });
    await pause(waitMs, signal);
  }
}

type TextResponse =
  | { response: Response; text: string | undefined; lost?: never }
  | { response?: never; text?: never; lost: RegistryError };

/** One request, and its response's text; undefined if too long. Throws only for the caller's own signal. */
export async function textAt(
  { timeoutMs, fetch: request }: Pick<Settings, 'timeoutMs' | 'fetch'>,
  url: string,
  { signal, ...init }: Omit<RequestInit, 'signal'> & { signal: AbortSignal | undefined },
  maxBytes: number,
): Promise<TextResponse> {
  const { origin } = new URL(url);
  try {
    return await within(
      timeoutMs,
      signal,
      async (either) => {
        const response = await request(url, { ...init, signal: either });
        return { response, text: await readText(response, maxBytes) };
      },
      () =>
        new RegistryError('timed_out', `${origin} did not answer within ${timeoutMs} ms.`, {
          mayBeDone: true,
        }),
    );
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof RegistryError) return { lost: cause };
    const code = codeIn(cause);
    const mayBeDone = !isUnsent(code);
    const what = mayBeDone ? 'did not answer' : 'cannot be reached';
    const sentence = `The registry at ${origin} ${what}${becauseOf(code)}.`;
    return { lost: new RegistryError('unreachable', sentence, { cause, mayBeDone }) };
  }
}

/** Node's message for a port that fetch may not use. */
const blockedPort = 'bad port';

const reasons: Record<string, string> = {
  [blockedPort]: 'its port is blocked',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name cannot be looked up now',
  ECONNREFUSED: 'it refuses connections',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  EHOSTUNREACH: 'its network is unreachable',
  ENETUNREACH: 'its network is unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'it did not accept the connection in time',
};
const certificate = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;
const kinds: readonly [RegExp, string][] = [
  [certificate, 'its certificate is not accepted'],
  [/^(?:EPROTO$|ERR_SSL_|HPE_)/, 'it does not speak the protocol of its URL, https or http'],
  [/^PROXY_/, 'the proxy does not connect'],
];

/** Failures before any byte of the request left. Browsers don't reveal them. */
const unsent = new Set([blockedPort, 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']);

function isUnsent(code: string): boolean {
  return unsent.has(code) || certificate.test(code) || code.startsWith('PROXY_');
}

/** Node puts it into the cause of its "fetch failed". */
export function codeIn(error: unknown): string {
  const { cause } = Object(error) as { cause?: { code?: unknown; message?: unknown } };
  return String(cause?.code ?? (cause?.message === blockedPort ? blockedPort : ''));
}

export function becauseOf(code: string): string {
  const reason = reasons[code] ?? kinds.find(([pattern]) => pattern.test(code))?.[1];
  return reason === undefined ? '' : `: ${reason} (${code})`;
}

/** These codes mean that nothing was done. */
const untouched = new Set<string>(['conflict', 'idempotency_in_flight', 'provider_unreachable']);

/**
 * Exactly the cases that the service documents as safe. Not repeated are above all 504, because the work may
 * have been done, every other 502, and `idempotency_consumed`, which means the same afterwards.
 */
function mayRepeat(call: Call, { error, isFromService }: Rejection): boolean {
  if (isFromService && untouched.has(error.code)) return true;
  const { status, retryAfter } = error;
  if (call.asksForStatus && error.mayBeDone && error.statusUrl === undefined && error.code !== 'redirected')
    return true;
  if ((status === 429 || status === 503) && retryAfter !== undefined) return true;
  if (isFromService || error.code === 'redirected') return false;
  // The gateway throttles before it calls the function, but may send 503 after one that ran.
  if (status === 429) return true;
  return (status === undefined || status === 503) && call.isRepeatable;
}

/** The delay that the service requests. Otherwise it grows with each attempt, at random to spread clients. */
function pauseBefore(attempt: number, { retryAfter }: RegistryError): number {
  if (retryAfter !== undefined) return retryAfter * 1000;
  return Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}
