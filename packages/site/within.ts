import { runInNewContext } from 'node:vm';

/** Undefined if the work takes longer, or fails: only a script with a limit can be stopped while it runs. */
export function within<Result>(timeout: number, work: () => Result): Result | undefined {
  try {
    return runInNewContext('work()', { work }, { timeout: Math.max(1, Math.ceil(timeout)) }) as Result;
  } catch {
    return undefined;
  }
}
