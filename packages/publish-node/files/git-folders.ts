import { existsSync } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Failure } from '../failure.ts';
import { readPlain } from './own-file.ts';

/** The folders of a work tree's repository. */
export interface GitFolders {
  /** Contains the index. */
  own: string;
  /** Shared by the work trees of a repository: settings and excludes. */
  common: string;
}

export function unreadable(why: string): Failure {
  return new Failure('usage', `The folder is in a git repository that cannot be read: ${why}.`);
}

/** For files that people write. */
const maxTextBytes = 1_000_000;

/** A file of a repository, or one that a person keeps for git. Undefined if it doesn't exist. */
export async function readRepository(path: string, maxBytes = maxTextBytes): Promise<Buffer | undefined> {
  return readPlain(path, maxBytes).catch((error) => {
    throw unreadable(`${path} ${error.message}`);
  });
}

export function workTreeOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : workTreeOf(parent);
}

/** Rejects a `.git` that git would skip: it would then look for a repository above. */
export async function gitFoldersOf(top: string): Promise<GitFolders> {
  const git = join(top, '.git');
  const own = (await stat(git)).isDirectory() ? git : resolve(top, await named(git, /^gitdir: (.+)$/));
  const hasCommon = existsSync(join(own, 'commondir'));
  const common = hasCommon ? resolve(own, await named(join(own, 'commondir'), /^(.+)$/)) : own;
  const head = await lstat(join(own, 'HEAD')).catch(() => undefined);
  if (!(head?.isFile() || head?.isSymbolicLink()) || !existsSync(join(common, 'objects')))
    throw unreadable(`${git} is not valid`);
  return { own, common };
}

async function named(path: string, pattern: RegExp): Promise<string> {
  const text = (await readRepository(path))?.toString().replace(/[\r\n]+$/, '') ?? '';
  const [, name] = pattern.exec(text) ?? [];
  // Windows sends a person's credentials to a host in a path.
  if (name === undefined || /\0|^[\\/]{2}/.test(name)) throw unreadable(`${path} is not valid`);
  return name;
}
