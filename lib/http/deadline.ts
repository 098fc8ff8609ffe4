import type { Context } from 'aws-lambda';

/** Time kept back from the invocation's own limit, so that an answer still leaves when work is cut off. */
export const reservedMs = 1000;
const defaultLimitMs = 29_000;

/** When Lambda ends an invocation; one that is called by hand may not say. */
export function endOf(context: Context): number {
  return Date.now() + (context.getRemainingTimeInMillis?.() ?? defaultLimitMs);
}
