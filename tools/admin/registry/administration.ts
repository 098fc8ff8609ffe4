import { ApiError } from '../../../lib/errors.ts';

/*
 * What only the admin command line does, and no endpoint, stands in publisher-, token-, node- and
 * node-version-administration.ts. All of it reads, decides, and writes on the condition that what it read still
 * holds, so that it can neither undo nor be undone by a publish, an upload or another administrator.
 */

const patienceMs = 10_000;
const maxRounds = 20;

/** Decides and writes anew while `attempt` answers undefined: others changed what it had read. */
export async function untilWritten<Result>(
  attempt: (deadline: number) => Promise<Result | undefined>,
): Promise<Result> {
  const deadline = newDeadline();
  for (let round = 0; round < maxRounds; round += 1) {
    const result = await attempt(deadline);
    if (result !== undefined) return result;
  }
  throw new ApiError('conflict');
}

export function newDeadline(): number {
  return Date.now() + patienceMs;
}
