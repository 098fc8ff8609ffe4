import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type GitFolders, gitFoldersOf, readRepository, unreadable, workTreeOf } from './git-folders.ts';
import { readIndex, type Tracked } from './git-index.ts';
import { globalExcludes, ownSetting } from './git-settings.ts';
import { withParents } from './ignore-pattern.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { realPlace } from './own-file.ts';
import { walkFrom } from './walk.ts';

/*
 * No git is started: a repository's configuration can name programs and addresses, and each version of git has other ways to
 * be stopped from using them.
 */

export interface GitFiles {
  paths: string[];
  /** Git's object for a path; untracked files have none. */
  objects: Map<string, string>;
  /** Files in the folder that are not published, and tracked files that are missing from it. */
  notes: string[];
  /** Submodules without their files. */
  emptySubmodules: string[];
}

/**
 * What git would ship of a folder now: tracked files, ignored or not, and new files that aren't ignored. Undefined if the
 * folder is in no work tree, or in one that ignores it.
 */
export async function gitFiles(folder: string): Promise<GitFiles | undefined> {
  const top = workTreeOf(folder);
  if (top === undefined) return undefined;
  const folders = await gitFoldersOf(top);
  const place = relative(top, folder).replaceAll('\\', '/');
  const prefix = place === '' ? '' : `${place}/`;
  const tracked = await readIndex(folders.own, prefix);
  const { files, repositories } = await untrackedFiles({ top, prefix, folders, tracked });
  if (tracked.length === 0 && files.length === 0 && repositories.length === 0) return undefined;
  const found: GitFiles = { paths: [], objects: new Map(), notes: [], emptySubmodules: [] };
  for (const entry of tracked) await add(found, folder, { ...entry, path: entry.path.slice(prefix.length) });
  found.paths.push(...files.map((path) => path.slice(prefix.length)));
  const others = repositories.map((path) => path.slice(prefix.length));
  found.notes.push(
    ...others.map(
      (path) => `${path} is left out: it is another git repository, and not a submodule of this one.`,
    ),
  );
  return found;
}

interface WorkTree {
  top: string;
  prefix: string;
  folders: GitFolders;
  tracked: readonly Tracked[];
}

/** New files that no list of excludes names, and the other repositories among them. */
async function untrackedFiles({ top, prefix, folders, tracked }: WorkTree) {
  // As git finds out whether names are equal that differ in case only, when it makes a repository.
  const ignoresCase = existsSync(join(folders.own, 'hEAD'));
  const fold = (path: string) => (ignoresCase ? path.toLowerCase() : path);
  let rules = new IgnoreRules([], fold)
    .and([await globalExcludes(top, folders)])
    .and([await excludesOf(folders)]);
  for (const above of ['', ...withParents(prefix)].filter((path) => path.length < prefix.length)) {
    const stats = await lstat(join(top, above, '.gitignore')).catch(() => undefined);
    if (stats?.isFile()) rules = await rules.with(top, `${above}.gitignore`);
  }
  const known = new Set(tracked.flatMap(({ path }) => withParents(fold(path))));
  const submodules = new Set(
    tracked.filter(({ kind }) => kind === 'submodule').map(({ path }) => `${fold(path)}/`),
  );
  const repositories: string[] = [];
  const leaves = (path: string) => {
    if (submodules.has(fold(path))) return true;
    const isOther = existsSync(join(top, path, '.git')) && !known.has(fold(path));
    if (isOther) repositories.push(path);
    return isOther;
  };
  const isIgnored = prefix !== '' && rules.match(prefix);
  const walked = isIgnored
    ? []
    : await walkFrom({ root: top, ignoreFiles: ['.gitignore'], leaves }, prefix, rules);
  return { files: walked.filter((path) => !known.has(fold(path))), repositories };
}

async function excludesOf(folders: GitFolders): Promise<string> {
  // It may name any file of the machine, and which files are published would tell its lines.
  if (await ownSetting(folders, 'core.excludesfile'))
    throw unreadable('its own settings name a core.excludesFile; put its lines into .git/info/exclude');
  return (await readRepository(join(folders.common, 'info/exclude')))?.toString() ?? '';
}

async function add(found: GitFiles, folder: string, { path, object, kind }: Tracked): Promise<void> {
  // A name that is not UTF-8 is reported with the other names, and cannot be looked up.
  const stats = path.includes('\uFFFD') ? undefined : await lstat(join(folder, path)).catch(() => null);
  if (stats?.isDirectory() && kind === 'submodule') await addSubmodule(found, folder, path);
  else if (stats === null || (stats?.isDirectory() && kind === 'file'))
    found.notes.push(`${path} is left out: it is in git, but not in the folder.`);
  else if (kind !== 'sparse folder') {
    found.paths.push(path);
    found.objects.set(path, object);
  }
}

async function addSubmodule(found: GitFiles, folder: string, path: string): Promise<void> {
  // A link among its parents may lead to a repository outside.
  const isHere = (await realPlace(folder, path)) === path && existsSync(join(folder, path, '.git'));
  const inner = isHere ? await gitFiles(join(folder, path)) : undefined;
  if (inner === undefined) {
    found.emptySubmodules.push(path);
    return;
  }
  found.paths.push(...inner.paths.map((file) => `${path}/${file}`));
  for (const [file, object] of inner.objects) found.objects.set(`${path}/${file}`, object);
  found.notes.push(...inner.notes.map((note) => `${path}/${note}`));
  found.emptySubmodules.push(...inner.emptySubmodules.map((empty) => `${path}/${empty}`));
}
