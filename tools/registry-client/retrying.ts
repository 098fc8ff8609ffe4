/** How long a call is tried: both bounds hold. */
export interface Patience {
  attempts: number;
  /** From the first attempt to the start of the last one. */
  totalMs: number;
}

type Send = (request: Request) => Promise<Response>;

const standardPatience: Patience = { attempts: 5, totalMs: 60_000 };
const firstPauseMs = 200;
const longestPauseMs = 5_000;

/**
 * Sends a request again where that cannot do its work twice. Every POST carries one Idempotency-Key through all
 * its attempts: operations that spend money or publish honour it, and the others only read. A PUT names the
 * state it wants, so it may be repeated. What the service says is final stays final: 504 above all, for then the
 * work may have been done, and 409 `idempotency_consumed`, which says so afterwards.
 */
export function retrying(patience: Partial<Patience> = {}): Send {
  const { attempts, totalMs } = { ...standardPatience, ...patience };
  return async (request) => {
    const end = Date.now() + totalMs;
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID());
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await send(request.clone());
      const pauseMs = (await mayRepeat(request, outcome)) ? pauseBefore(attempt, outcome) : undefined;
      if (pauseMs === undefined || attempt >= attempts || Date.now() + pauseMs > end)
        return conclude(outcome);
      await pause(pauseMs, request.signal);
    }
  };
}

type Outcome = { response: Response } | { failure: unknown };

async function send(request: Request): Promise<Outcome> {
  return fetch(request).then(
    (response) => ({ response }),
    (failure: unknown) => ({ failure }),
  );
}

function conclude(outcome: Outcome): Response {
  if ('failure' in outcome) throw outcome.failure;
  return outcome.response;
}

async function mayRepeat(request: Request, outcome: Outcome): Promise<boolean> {
  if ('failure' in outcome) return !request.signal.aborted && !isConditional(request);
  const { status } = outcome.response;
  if (status === 409) return (await codeOf(outcome.response)) === 'idempotency_in_flight';
  if (status === 503) return (await codeOf(outcome.response)) !== 'provider_quota';
  return status === 429;
}

/** Its answer may be what got lost; the repetition would then find its own change and answer 412. */
function isConditional(request: Request): boolean {
  return request.headers.has('if-match');
}

async function codeOf(response: Response): Promise<unknown> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
}

/** What the service asks for, else longer from attempt to attempt, at random so that clients spread. */
function pauseBefore(attempt: number, outcome: Outcome): number {
  const asked = 'response' in outcome ? outcome.response.headers.get('retry-after') : null;
  if (asked !== null) return millisecondsOf(asked);
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Retry-After is a number of seconds or a date. */
function millisecondsOf(retryAfter: string): number {
  const seconds = Number(retryAfter);
  const pauseMs = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(pauseMs) ? firstPauseMs : Math.max(0, pauseMs);
}
