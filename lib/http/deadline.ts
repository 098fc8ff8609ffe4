import type { Context } from 'aws-lambda';

/** Time kept back from the invocation's own limit, so that an answer still leaves when work is cut off. */
export const reservedMs = 1000;
const defaultLimitMs = 29_000;

/** When Lambda ends an invocation; one that is called by hand may not say. */
export function endOf(context: Context): number {
  return Date.now() + (context.getRemainingTimeInMillis?.() ?? defaultLimitMs);
}

/** What comes of `work`, or the error of `late` soon after `until` (milliseconds since the epoch). */
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
