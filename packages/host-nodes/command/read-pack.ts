import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Files } from '../files.ts';
import { decodeText, textFilesIn } from '../text-files.ts';

/** A folder's files, with the content of text files, as the registry reads an archive's. */
export async function readPack(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return readFiles(
    folder,
    paths.map((path) => relative(folder, path)),
  );
}

async function readFiles(folder: string, paths: readonly string[]): Promise<Files> {
  const sizes = await Promise.all(
    paths.map(async (path) => ({ path, bytes: (await stat(join(folder, path))).size })),
  );
  const chosen = textFilesIn(sizes);
  const files = new Map<string, string | undefined>();
  for (const path of paths)
    files.set(path, chosen.has(path) ? decodeText(path, await readFile(join(folder, path))) : undefined);
  return files;
}
