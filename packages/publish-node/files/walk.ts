import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import { type Exclusion, IgnoreRules, leftovers } from './ignore-rules.ts';

/** Leftovers of tools, even if git tracks them; `includes` may bring them back. */
const junk = [
  '.DS_Store',
  'Thumbs.db',
  '__pycache__/',
  '.venv/',
  'venv/',
  'node_modules/',
  '.mypy_cache/',
  '.pytest_cache/',
  '.ruff_cache/',
  '.tox/',
];
const leftBehind = [...junk, '*.pyc', '.hg/', '.bzr/', '.jj/', '.svn/', '.idea/', '.vscode/'];

export function junkRules(): IgnoreRules {
  return new IgnoreRules().and(junk, leftovers);
}

/** The files below a folder that no .gitignore excludes, as paths with `/`. */
export async function walk(root: string, leftOut: Exclusion[]): Promise<string[]> {
  const rules = new IgnoreRules().and(leftBehind, leftovers);
  return walkFrom({ root, ignoreFiles: ['.gitignore'], leftOut }, '', rules);
}

/** Every file below a subfolder of the root. */
export function walkAll(root: string, folder: string): Promise<string[]> {
  return walkFrom({ root, ignoreFiles: [], leftOut: [] }, folder, new IgnoreRules());
}

interface Walk {
  root: string;
  ignoreFiles: readonly string[];
  /** Whether a folder is excluded for a reason other than a rule. */
  leaves?: (folder: string) => boolean;
  /** Collects what rules exclude. */
  leftOut: Exclusion[];
}

export async function walkFrom(walk: Walk, folder: string, outer: IgnoreRules): Promise<string[]> {
  const { root, ignoreFiles, leaves, leftOut } = walk;
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
    const isFile = !entry.isDirectory() || path.includes('\uFFFD');
    const excluded = rules.find(isFile ? path : `${path}/`);
    if (excluded) leftOut.push(excluded);
    else if (isFile) files.push(path);
    else if (!leaves?.(`${path}/`)) {
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
