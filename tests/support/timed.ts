import { afterEach, beforeEach, jest } from '@jest/globals';

/** Waits take no time, and half of the maximum that each may take: 20 ms, 40 ms and so on, up to 500 ms. */
export function fakeWaits(): void {
  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    jest.useRealTimers();
  });
}

export const inSeconds = (seconds: number) => ({ deadline: Date.now() + 1000 * seconds });

/** The result of the work, and its duration if only its own waits take time. Needs fake timers. */
export async function timed<T>(work: Promise<T>): Promise<{ result?: T; error?: unknown; ms: number }> {
  const began = Date.now();
  const ending = work.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  let isOver = false;
  void ending.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if (Date.now() - began > 60_000) throw new Error('It never ends.');
    await jest.advanceTimersToNextTimerAsync();
  }
  return { ...(await ending), ms: Date.now() - began };
}
