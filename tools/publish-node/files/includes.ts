import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import ignore from 'ignore';
import { Failure } from '../failure.ts';
import { walkAll } from './walk.ts';

/** The files that an `includes` list names: files, folders or patterns, relative to the folder. */
export async function includedFiles(root: string, includes: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const entry of includes) {
    const found = await filesOf(root, entry);
    // It names what a build makes, most of the time, and the build may have been forgotten.
    if (found.length === 0) throw new Failure('usage', `The includes entry "${entry}" names no file.`);
    files.push(...found);
  }
  return files;
}

async function filesOf(root: string, entry: string): Promise<string[]> {
  const path = entry
    .replaceAll('\\', '/')
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '');
  if (path.split('/').includes('..')) {
    throw new Failure('usage', `The includes entry "${entry}" leads out of the folder.`);
  }
  if (path === '' || path === '.') return walkAll(root, '');
  const stats = await lstat(join(root, path)).catch(() => undefined);
  if (stats?.isDirectory()) return walkAll(root, `${path}/`);
  if (stats) return [path];
  const pattern = ignore({ ignorecase: false }).add(`/${path}`);
  return (await walkAll(root, '')).filter((file) => pattern.ignores(file));
}
