import { refreshFile } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import type { IndexConfig } from '../schemas/index-files.ts';
import { configPath } from './paths.ts';

/** How many pieces the catalog of a new stage has; `admin index rebuild` gives a larger registry more. */
const firstPieces = 16;

/**
 * The config file, made if there is none. `change` returns the new fields. A catalog grows in three steps, so that no
 * line is lost: the next number of pieces is announced, from when on every writer writes into both sizes; the pieces
 * are filled; then readers are sent there.
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
    config = change(current ?? config);
    return config;
  });
  return config;
}
