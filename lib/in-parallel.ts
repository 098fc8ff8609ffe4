/**
 * The results of all work, once all of it has ended, or its first failure. In place of Promise.all wherever something is
 * written: what a function leaves open when it answers, Lambda may never send.
 */
export async function allEnded<Work extends readonly unknown[] | []>(
  work: Work,
): Promise<{ -readonly [Place in keyof Work]: Awaited<Work[Place]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Does some work for each item, for so many of them at a time: each worker takes the next that is left. */
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
