import { createFile, refreshFile } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import type { CatalogPiece, IndexConfig } from '../schemas/index-files.ts';
import { catalogPath, configPath } from './paths.ts';

/** How many pieces the catalog of a new stage has; `admin index rebuild` gives a larger registry more. */
const firstPieces = 16;

/**
 * Writes the config file; `change` returns its new fields. The first publisher of a stage creates it, with empty
 * pieces. A catalog grows in three steps, so that no entry is lost: the new number of pieces is announced, and every
 * writer writes both sizes from then on; the new pieces are filled; then readers are sent to them.
 */
export async function updateConfig(
  context: Context,
  change: (current: IndexConfig) => IndexConfig = (current) => current,
): Promise<IndexConfig> {
  let config: IndexConfig = {
    version: 1,
    catalog_pieces: firstPieces,
    updated_at: new Date().toISOString(),
  };
  await refreshFile<IndexConfig>(context, configPath, async (current) => {
    if (!current) await createPieces(context, firstPieces);
    config = change(current ?? config);
    return config;
  });
  return config;
}

/** Creates every piece, because a missing file is never cached: every search would request it again. */
async function createPieces(context: Context, pieces: number): Promise<void> {
  const empty: CatalogPiece = { nodes: [] };
  await Promise.all(
    Array.from({ length: pieces }, (_, piece) => createFile(context, catalogPath(pieces, piece), empty)),
  );
}
