import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Files } from '../../lib/extraction/files.ts';

const text = /\.(?:py|json|toml|txt|ya?ml|md|csv|ini|cfg)$/i;

/** A folder's files, the text ones with their content. */
export async function readPack(folder: string): Promise<Files> {
  const files = new Map<string, string | undefined>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(folder, path), text.test(entry.name) ? await readFile(path, 'utf8') : undefined);
  }
  return files;
}
