interface OpenCall {
  name: string;
  began: number;
}

/**
 * The time and bookkeeping of one request or event. The first parameter of everything that waits for a store
 * or a network.
 */
export interface Context {
  /** Milliseconds since the epoch by which everything must be done. */
  readonly deadline: number;
  /** The calls that are still open, so that a timeout can name them. */
  readonly openCalls?: Set<OpenCall>;
  /** Only of a request, until it sends something. Other work repeats calls until its deadline. */
  retries?: RetryBudget | undefined;
}

/** The budget of one request for repeating calls to a store that throttles or fails. */
interface RetryBudget {
  repeats: number;
  ms: number;
  /** When it is used up: so many milliseconds after the first failure. */
  until?: number;
}

/** The part of an invocation that event functions use. A manual invocation may have no id. */
export interface EventInvocation {
  awsRequestId?: string;
  getRemainingTimeInMillis: () => number;
}

/** Reserved at the end of the invocation's time, so that a response still leaves when work is cut off. */
const reservedMs = 1000;
const defaultLimitMs = 29_000;

/** A manual invocation may not say when Lambda ends it. */
export function contextOf(invocation: Partial<EventInvocation>): Context {
  const endsAt = Date.now() + (invocation.getRemainingTimeInMillis?.() ?? defaultLimitMs);
  return { deadline: endsAt - reservedMs, openCalls: new Set() };
}

/** The context of work that a caller waits for. */
export function requestContext(invocation: Partial<EventInvocation>): Context {
  return { ...contextOf(invocation), retries: { repeats: 8, ms: 2000 } };
}

/** The option of the AWS SDK's clients that ends a call at the deadline, or earlier. */
export function untilDeadline({ deadline }: Context, maxMs = Infinity): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(Math.max(1, Math.min(maxMs, deadline - Date.now()))) };
}

/** Makes a call to a store or a provider, under a name that a log line can show. */
export function calling<Result>(
  { openCalls }: Context,
  name: string,
  call: () => Promise<Result>,
): Promise<Result> {
  const entry = { name, began: Date.now() };
  openCalls?.add(entry);
  return call().finally(() => openCalls?.delete(entry));
}

/** Lists the open calls, and how long each has been open. */
export function describeOpenCalls({ openCalls }: Context): string {
  const calls = [...(openCalls ?? [])].map(({ name, began }) => `${name} for ${Date.now() - began} ms`);
  return `waiting: ${calls.join(', ') || 'for no call'}`;
}

/** Resolves with `work`, or rejects with `late()` soon after `until` (milliseconds since the epoch). */
export function inTime<Result>(work: Promise<Result>, until: number, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.max(0, until - Date.now()));
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
