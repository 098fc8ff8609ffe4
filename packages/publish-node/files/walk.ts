import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import { IgnoreRules } from './ignore-rules.ts';

/** What tools leave behind; `includes` may bring it back. */
const leftBehind = [
  ...['.DS_Store', 'Thumbs.db', '__pycache__/', '*.pyc', '.venv/', 'venv/', 'node_modules/'],
  ...[
    '.hg/',
    '.bzr/',
    '.jj/',
    '.svn/',
    '.mypy_cache/',
    '.pytest_cache/',
    '.ruff_cache/',
    '.tox/',
    '.idea/',
    '.vscode/',
  ],
];

/** The files below a folder that no .gitignore leaves out, as paths with `/`. */
export async function walk(root: string): Promise<string[]> {
  return walkFrom(root, '', new IgnoreRules().and(leftBehind), ['.gitignore']);
}

/** Every file below a folder of it. */
export function walkAll(root: string, folder: string): Promise<string[]> {
  return walkFrom(root, folder, new IgnoreRules(), []);
}

async function walkFrom(
  root: string,
  folder: string,
  outer: IgnoreRules,
  ignoreFiles: readonly string[],
): Promise<string[]> {
  const entries = await entriesOf(join(root, folder));
  let rules = outer;
  for (const { name } of entries.filter((entry) => entry.isFile() && ignoreFiles.includes(entry.name))) {
    rules = await rules.with(root, folder + name);
  }
  const files: string[] = [];
  for (const entry of entries) {
    const path = folder + entry.name;
    if (entry.name === '.git') continue;
    if (!entry.isDirectory()) {
      if (!rules.match(path)) files.push(path);
    } else if (!rules.match(`${path}/`)) {
      files.push(...(await walkFrom(root, `${path}/`, rules, ignoreFiles)));
    }
  }
  return files;
}

function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error) => {
    throw new Failure('usage', `The folder cannot be read: ${error.message}`);
  });
}
