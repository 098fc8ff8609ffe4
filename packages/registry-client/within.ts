/**
 * The result of `work`, unless the caller's signal or the time ends first; the signal of `work` is then
 * aborted. `AbortSignal.any` would do the same, but Node 20.0 and many browsers lack it.
 */
export async function within<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result> | Result,
  late: () => Error,
): Promise<Result> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let end: (reason: unknown) => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const stop = () => end(signal?.reason);
  const timer = setTimeout(() => end(late()), ms);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
