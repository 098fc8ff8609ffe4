import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import { IgnoreRules } from './ignore-rules.ts';

/** Leftovers of tools; `includes` may bring them back. */
const leftBehind = [
  ...'.DS_Store Thumbs.db __pycache__/ *.pyc .venv/ venv/ node_modules/ .hg/ .bzr/ .jj/ .svn/'.split(' '),
  ...'.mypy_cache/ .pytest_cache/ .ruff_cache/ .tox/ .idea/ .vscode/'.split(' '),
];

/** The files below a folder that no .gitignore excludes, as paths with `/`. */
export async function walk(root: string): Promise<string[]> {
  return walkFrom({ root, ignoreFiles: ['.gitignore'] }, '', new IgnoreRules().and(leftBehind));
}

/** Every file below a subfolder of the root. */
export function walkAll(root: string, folder: string): Promise<string[]> {
  return walkFrom({ root, ignoreFiles: [] }, folder, new IgnoreRules());
}

interface Walk {
  root: string;
  ignoreFiles: readonly string[];
  /** Whether a folder is excluded for a reason other than a rule. */
  leaves?: (folder: string) => boolean;
}

export async function walkFrom(walk: Walk, folder: string, outer: IgnoreRules): Promise<string[]> {
  const { root, ignoreFiles, leaves } = walk;
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  let rules = outer;
  for (const entry of entries.filter(({ name }) => ignoreFiles.includes(name))) {
    if (entry.isSymbolicLink()) throw new Failure('usage', linkedSentence(folder + entry.name));
    if (entry.isFile()) rules = await rules.with(root, folder + entry.name);
  }
  const files: string[] = [];
  for (const entry of entries) {
    const path = folder + nameOf(entry);
    if (entry.name === '.git') continue;
    // A folder whose name isn't UTF-8 can't be opened by it, and is reported as a file.
    if (!entry.isDirectory() || path.includes('\uFFFD')) {
      if (!rules.match(path)) files.push(path);
    } else if (!rules.match(`${path}/`) && !leaves?.(`${path}/`)) {
      for (const file of await walkFrom(walk, `${path}/`, rules)) files.push(file);
    }
  }
  return files;
}

function linkedSentence(path: string): string {
  return `${path} is a link to something, which only git before 2.32 follows. Put the file in its place.`;
}

/** Git on a Mac has composed names in its index, whatever the disk's spelling. */
function nameOf({ name }: Dirent): string {
  return process.platform === 'darwin' ? name.normalize() : name;
}
