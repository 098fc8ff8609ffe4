import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../failure.ts';

export interface GitFiles {
  paths: string[];
  /** What is not published although it lies there, or although git has it. */
  notes: string[];
}

const maxListBytes = 256 * 1024 * 1024;

/**
 * What git would ship of a folder as it is now: tracked files, ignored or not, and new ones that are not ignored.
 * Undefined where git has no say: the folder is in no work tree, or lies in one that ignores it.
 */
export async function gitFiles(folder: string): Promise<GitFiles | undefined> {
  if (!isInWorkTree(folder)) return undefined;
  const output = await git(folder, 'ls-files', '-z', '--cached', '--others', '--exclude-standard');
  const listed = [...new Set(output.split('\0').filter((path) => path !== ''))];
  if (listed.length === 0) return undefined;
  const found: GitFiles = { paths: [], notes: [] };
  for (const path of listed) await add(found, folder, path);
  return found;
}

async function add(found: GitFiles, folder: string, path: string): Promise<void> {
  if (path.endsWith('/')) {
    found.notes.push(`${path} is left out: it is another git repository, and not a submodule of this one.`);
    return;
  }
  // A name that is not UTF-8 is reported with the other names, and cannot be looked up.
  const stats = path.includes('\uFFFD') ? undefined : await lstat(join(folder, path)).catch(() => null);
  if (stats === null) found.notes.push(`${path} is left out: git has it, and the folder does not.`);
  else if (stats?.isDirectory()) await addSubmodule(found, folder, path);
  else found.paths.push(path);
}

async function addSubmodule(found: GitFiles, folder: string, path: string): Promise<void> {
  const inner = existsSync(join(folder, path, '.git')) ? await gitFiles(join(folder, path)) : undefined;
  if (inner === undefined) {
    throw new Failure(
      'usage',
      `The submodule ${path} is empty. Run git submodule update --init --recursive.`,
    );
  }
  found.paths.push(...inner.paths.map((file) => `${path}/${file}`));
  found.notes.push(...inner.notes.map((note) => `${path}/${note}`));
}

function isInWorkTree(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  const parent = dirname(folder);
  return parent !== folder && isInWorkTree(parent);
}

/** Inside a git hook these name another folder's repository. */
const hookVariables = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX', 'GIT_OBJECT_DIRECTORY'];

/** Its refusal is final: a list made another way would silently have other files. */
function git(folder: string, ...args: string[]): Promise<string> {
  const others = Object.entries(process.env).filter(([name]) => !hookVariables.includes(name));
  const env = { ...Object.fromEntries(others), LC_ALL: 'C' };
  const options = { cwd: folder, env, maxBuffer: maxListBytes };
  return new Promise((resolve, reject) => {
    execFile('git', ['-c', 'core.fsmonitor=false', ...args], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const reason = error.code === 'ENOENT' ? 'git is not installed' : stderr.trim();
      reject(new Failure('usage', `The folder is in a git repository that cannot be read: ${reason}.`));
    });
  });
}
