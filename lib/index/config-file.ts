import { createFile, refreshFile } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import { allEnded } from '../in-parallel.ts';
import type { CatalogPiece, IndexConfig } from 'registry-rules/schemas/index-files';
import { catalogPath, configPath } from 'registry-rules/index-paths';

/** How many pieces the catalog of a new stage has; `admin index rebuild` gives a larger registry more. */
const firstPieces = 16;

/**
 * The config file, made with the first publisher of a stage together with empty pieces. `change` returns the new
 * fields. A catalog grows in three steps, so that no line is lost: the next number of pieces is announced, and from
 * then on every writer writes into both sizes; the pieces are filled; then readers are sent there.
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
  const next = async (stored: IndexConfig | undefined) => {
    // One of another layout counts as absent.
    const current =
      Number.isSafeInteger(stored?.catalog_pieces) && stored?.version === 1 ? stored : undefined;
    if (!current) await createPieces(context, firstPieces);
    config = change(current ?? config);
    return config;
  };
  await refreshFile<IndexConfig>(context, configPath, next, { onlyIfDifferent: true });
  return config;
}

/** Creates every piece, because a missing file is never cached: each search would request it again. */
async function createPieces(context: Context, pieces: number): Promise<void> {
  const empty: CatalogPiece = { nodes: [] };
  await allEnded(
    Array.from({ length: pieces }, (_, piece) => createFile(context, catalogPath(pieces, piece), empty)),
  );
}
