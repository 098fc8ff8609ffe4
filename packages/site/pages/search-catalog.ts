import { type CatalogEntry, createPublicIndex } from '@node-registry/registry-client';

/* Searches the whole catalog, which takes a slow line seconds: if the pieces can't order the results, or find none. */

const index = createPublicIndex({ downloadsUrl: location.origin, attempts: 2 });

let loading: Promise<unknown> | undefined;

export async function findInCatalog(
  text: string,
  fits: (entry: CatalogEntry) => boolean,
  order: string,
): Promise<CatalogEntry[]> {
  // Consecutive searches wait for the same files.
  loading ??= index.catalog().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  await loading;
  const found = (await index.search(text)).filter(fits);
  if (order === 'newest') return found.sort((a, b) => b.updated_at.localeCompare(a.updated_at));
  if (order === 'name') return found.sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id));
  return found;
}
