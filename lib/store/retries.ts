import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';

/** Full jitter: any time up to a bound that doubles, so that requests that met once do not meet again. */
function jitter(round: number): number {
  return Math.random() * Math.min(1000, 20 * 2 ** round);
}

/** Waits before another round; returns false at once if the deadline would pass during the wait. */
export async function pauseBefore({ deadline }: Context, round: number): Promise<boolean> {
  const wait = jitter(round);
  if (Date.now() + wait > deadline) return false;
  await new Promise((resolve) => setTimeout(resolve, wait));
  return true;
}

const maxRounds = 100;

/**
 * The optimistic loop of every read-decide-write: runs again while it returns undefined, which means that another writer
 * changed what it had read.
 */
export async function untilWritten<Result>(
  context: Context,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  for (let round = 0; round < maxRounds; round += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (!(await pauseBefore(context, 0))) break;
  }
  throw new ApiError('conflict');
}
