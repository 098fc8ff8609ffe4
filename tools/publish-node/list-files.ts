import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { Failure } from './failure.ts';

interface Rules {
  folder: string;
  ignores: Ignore;
}

/** The files of a folder that belong to it, as git sees it: sorted paths with `/`, relative to the folder. */
export async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  await walk(folder, folder, [], files);
  return files.sort();
}

async function walk(root: string, folder: string, outer: readonly Rules[], files: string[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    throw new Failure('usage', `The folder cannot be read: ${error.message}`);
  });
  const hasRules = entries.some((entry) => entry.name === '.gitignore' && entry.isFile());
  const rules = hasRules ? [...outer, await readRules(folder)] : outer;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name === '.git' || isIgnored(path, entry.isDirectory(), rules)) continue;
    if (entry.isDirectory()) await walk(root, path, rules, files);
    else if (entry.isFile()) files.push(withSlashes(relative(root, path)));
    else {
      throw new Failure(
        'usage',
        `"${path}" is neither a file nor a folder; replace it or put it in .gitignore.`,
      );
    }
  }
}

async function readRules(folder: string): Promise<Rules> {
  return { folder, ignores: ignore().add(await readFile(join(folder, '.gitignore'), 'utf8')) };
}

/** The innermost .gitignore that has an opinion decides. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  let verdict = false;
  for (const { folder, ignores } of rules) {
    const name = withSlashes(relative(folder, path)) + (isFolder ? '/' : '');
    const { ignored, unignored } = ignores.test(name);
    if (ignored) verdict = true;
    if (unignored) verdict = false;
  }
  return verdict;
}

function withSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}
