/**
 * Resolves once all work has ended, or then rejects with the first failure. Use it instead of Promise.all for
 * writes: Lambda may never send the requests that are still open when a function returns.
 */
export async function allEnded<Work extends readonly unknown[] | []>(
  work: Work,
): Promise<{ -readonly [Place in keyof Work]: Awaited<Work[Place]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Runs `work` for each item, `atOnce` items at a time: each worker takes the next item. */
export async function inParallel<Item>(
  left: IterableIterator<Item> | AsyncIterableIterator<Item>,
  atOnce: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const worker = async () => {
    for await (const item of left) await work(item);
  };
  await allEnded(Array.from({ length: atOnce }, worker));
}

/** Runs work that many may ask for, at most `limit` at a time. */
export function atMost(limit: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // Its place goes to the one that has waited longest.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** A list in parts of at most this many items. */
export function inParts<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, part) => items.slice(part * size, (part + 1) * size));
}
