interface OpenCall {
  name: string;
  began: number;
}

/**
 * The time and the bookkeeping of one request or event. The first parameter of everything that waits for a store or a
 * network.
 */
export interface Context {
  /** Milliseconds since the epoch by which everything must be done. */
  readonly deadline: number;
  /** The calls that have not answered yet, so that work that runs out of time can name them. */
  readonly openCalls?: Set<OpenCall>;
  /** Of a request, whose caller waits. Other work repeats calls until its deadline. */
  readonly retries?: RetryBudget;
}

/** What one request may spend on repeated calls to a store that throttles or fails. */
interface RetryBudget {
  repeats: number;
  ms: number;
  /** Up to here, time has been taken off: calls that run side by side share it. */
  spentUntil: number;
}

/** What a function reads of its invocation for an event. One that is called by hand may have no id. */
export interface EventInvocation {
  awsRequestId?: string;
  getRemainingTimeInMillis: () => number;
}

/** Time kept back from the invocation's own limit, so that an answer still leaves when work is cut off. */
const reservedMs = 1000;
const defaultLimitMs = 29_000;

/** When Lambda ends an invocation; one that is called by hand may not say. */
export function endOf(invocation: Partial<EventInvocation>): number {
  return Date.now() + (invocation.getRemainingTimeInMillis?.() ?? defaultLimitMs);
}

export function contextOf(invocation: Partial<EventInvocation>): Context {
  return { deadline: endOf(invocation) - reservedMs, openCalls: new Set() };
}

/** The context of work that a caller waits for. */
export function requestContext(invocation: Partial<EventInvocation>): Context {
  return { ...contextOf(invocation), retries: { repeats: 8, ms: 2000, spentUntil: 0 } };
}

/** The option of the AWS SDK's clients that ends a call at the deadline, or earlier. */
export function untilDeadline({ deadline }: Context, maxMs = Infinity): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(Math.max(1, Math.min(maxMs, deadline - Date.now()))) };
}

/** Makes a call to a store or a provider, under a name that a log line can show. */
export async function calling<Result>(
  { openCalls }: Context,
  name: string,
  call: () => Promise<Result>,
): Promise<Result> {
  const entry = { name, began: Date.now() };
  openCalls?.add(entry);
  try {
    return await call();
  } finally {
    openCalls?.delete(entry);
  }
}

/** Which calls are still waited for, and for how long. */
export function describeOpenCalls({ openCalls }: Context): string {
  const calls = [...(openCalls ?? [])].map(({ name, began }) => `${name} for ${Date.now() - began} ms`);
  return `waiting: ${calls.join(', ') || 'for no call'}`;
}

/** Resolves with `work`, or rejects with `late()` soon after `until` (milliseconds since the epoch). */
export function inTime<Result>(work: Promise<Result>, until: number, late: () => Error): Promise<Result> {
  // Written out: with Promise.race and finally it takes twice the time, for each request.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.max(0, until - Date.now()));
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
