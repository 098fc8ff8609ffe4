const maxAtOnce = 8;

/** Does some work for each item, for a few of them at a time. */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const next = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: maxAtOnce }, next));
}
