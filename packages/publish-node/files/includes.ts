import { join } from 'node:path';
import { Failure } from '../failure.ts';
import { Effort } from './effort.ts';
import { ignorePattern, pathOf, withParents } from './ignore-pattern.ts';
import { realPlace, statsOf } from './own-file.ts';
import { walkAll } from './walk.ts';

interface Included {
  files: string[];
  failures: Failure[];
}

const maxEntries = 200;

/** The files that an `includes` list names: files, folders or patterns, relative to the folder. */
export async function includedFiles(root: string, includes: readonly string[]): Promise<Included> {
  const included: Included = { files: [], failures: [] };
  if (includes.length > maxEntries)
    throw new Failure('usage', `The includes list has over ${maxEntries} entries. Name folders.`);
  const effort = new Effort();
  for (const entry of includes) {
    const path = normal(entry);
    const found = path.split('/').includes('..') ? undefined : await filesOf(root, path, effort);
    if (found === undefined) included.failures.push(unusable(entry, 'leads out of the folder'));
    // It usually names build output, and the build may have been forgotten.
    else if (found.length === 0) included.failures.push(unusable(entry, 'names no file'));
    else included.files = included.files.concat(found);
  }
  return included;
}

function unusable(entry: string, why: string): Failure {
  return new Failure('usage', `The includes entry "${entry}" ${why}.`, { about: entry });
}

function normal(entry: string): string {
  return entry
    .replaceAll('\\', '/')
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '');
}

/** Undefined outside of the folder. */
async function filesOf(root: string, path: string, effort: Effort): Promise<string[] | undefined> {
  if (path === '' || path === '.') return walkAll(root, '');
  const stats = statsOf(join(root, path));
  if (stats?.isDirectory()) {
    // A link among its parents may lead outside.
    return realPlace(root, path) === undefined ? undefined : walkAll(root, `${path}/`);
  }
  if (stats) return [path];
  const pattern = ignorePattern(`/${path}`);
  const files = await walkAll(root, '');
  effort.spend('steps', 1_000 * files.length);
  return files.filter((file) =>
    withParents(file).some((name) => pattern?.matches(pathOf(name), effort) === true),
  );
}
