import { ApiError } from '../errors.ts';

/** Full jitter: any time up to a bound that doubles, so that requests that met once do not meet again. */
function jitter(attempt: number): number {
  return Math.random() * Math.min(1000, 20 * 2 ** attempt);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits before another attempt; returns false at once if the deadline would pass during the wait. */
export async function pauseBefore(attempt: number, deadline: number): Promise<boolean> {
  const wait = jitter(attempt);
  if (Date.now() + wait > deadline) return false;
  await pause(wait);
  return true;
}

const maxRounds = 100;

/**
 * The optimistic loop of every read-decide-write here: runs `attempt` again while it returns undefined, which means
 * that another writer changed what it had read before it could write.
 */
export async function untilWritten<Result>(
  deadline: number,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  for (let round = 0; round < maxRounds; round += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (!(await pauseBefore(0, deadline))) break;
  }
  throw new ApiError('conflict');
}
