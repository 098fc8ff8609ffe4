import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Failure } from '../failure.ts';
import { Effort } from './effort.ts';
import { type GitFolders, gitFoldersOf, readRepository, unreadable, workTreeOf } from './git-folders.ts';
import { readIndex, type Tracked } from './git-index.ts';
import { isTrue, ownInclude, ownSetting, personalSettings } from './git-settings.ts';
import { lower, withParents } from './ignore-pattern.ts';
import { type Exclusion, IgnoreRules } from './ignore-rules.ts';
import { realPlace, statsOf } from './own-file.ts';
import { walkFrom } from './walk.ts';

/*
 * Never starts git: a repository's configuration can name programs and URLs, and each version of git has
 * other ways to stop it from using them.
 */

export interface GitFiles {
  paths: string[];
  /** Git's object for a path; untracked files have none. */
  objects: Map<string, string>;
  /** Files in the folder that are not published, and tracked files that are missing from it. */
  notes: string[];
  /** Files and folders that rules exclude; git may track some of their files. */
  leftOut: Exclusion[];
  /** Submodules without their files. */
  emptySubmodules: string[];
}

/**
 * The files that git would ship of a folder now: tracked files, ignored or not, and new files that aren't
 * ignored. Undefined if the folder is in no work tree, or in one that ignores it.
 */
export async function gitFiles(folder: string, effort = new Effort()): Promise<GitFiles | undefined> {
  const top = workTreeOf(folder);
  if (top === undefined) return undefined;
  const folders = await gitFoldersOf(top);
  const place = relative(top, folder).replaceAll('\\', '/');
  const prefix = place === '' ? '' : `${place}/`;
  const tracked = await readIndex(folders.own, prefix, effort);
  const { files, repositories, leftOut } = await untrackedFiles(top, prefix, folders, tracked, effort);
  if (tracked.length === 0 && files.length === 0 && repositories.length === 0) return undefined;
  const found: GitFiles = {
    paths: [],
    objects: new Map(),
    notes: [],
    emptySubmodules: [],
    leftOut: leftOut.map(({ path, rule }) => ({ path: path.slice(prefix.length), rule })),
  };
  for (const entry of tracked) await add({ ...entry, path: entry.path.slice(prefix.length) });
  for (const path of files) found.paths.push(path.slice(prefix.length));
  const include = files.length > 0 && (await ownInclude(folders));
  // It may be any file of the machine, like a list of excludes. In CI jobs, the checkout keeps its token in
  // one.
  if (include)
    found.notes.push(
      `The repository's own settings include ${include}, which is not read: what it ignores is published.`,
    );
  for (const path of repositories)
    found.notes.push(
      `${path.slice(prefix.length)} is left out: it is another git repository, and not a submodule of this one.`,
    );
  return found;

  async function add({ path, object, kind }: Tracked): Promise<void> {
    // A name that isn't UTF-8 is reported with the other names, and can't be looked up.
    const stats = path.includes('\uFFFD') ? undefined : (statsOf(join(folder, path)) ?? null);
    if (stats?.isDirectory() && kind === 'submodule') await addSubmodule(path);
    else if (stats === null || (stats?.isDirectory() && kind === 'file'))
      found.notes.push(`${path} is left out: it is in git, but not in the folder.`);
    else if (kind !== 'sparse folder') {
      found.paths.push(path);
      found.objects.set(path, object);
    }
  }

  async function addSubmodule(path: string): Promise<void> {
    // A link among its parents may lead to a repository outside.
    const isHere = realPlace(folder, path) === path && existsSync(join(folder, path, '.git'));
    const inner = isHere ? await gitFiles(join(folder, path), effort) : undefined;
    if (inner === undefined) {
      found.emptySubmodules.push(path);
      return;
    }
    for (const file of inner.paths) found.paths.push(`${path}/${file}`);
    for (const [file, object] of inner.objects) found.objects.set(`${path}/${file}`, object);
    for (const { path: file, rule } of inner.leftOut) found.leftOut.push({ path: `${path}/${file}`, rule });
    for (const note of inner.notes) found.notes.push(`${path}/${note}`);
    for (const empty of inner.emptySubmodules) found.emptySubmodules.push(`${path}/${empty}`);
  }
}

/** New files that aren't excluded, the other repositories among them, and the excluded ones. */
async function untrackedFiles(
  top: string,
  prefix: string,
  folders: GitFolders,
  tracked: readonly Tracked[],
  effort: Effort,
) {
  const { excludes, ignoresCase: isWanted } = await personalSettings(top, folders);
  const own = await ownSetting(folders, 'core.ignorecase');
  // As git detects it when it creates a repository.
  const ignoresCase = existsSync(join(folders.own, 'hEAD')) || (own === undefined ? isWanted : isTrue(own));
  const fold = ignoresCase ? lower : (path: string) => path;
  let rules = new IgnoreRules([], ignoresCase, effort)
    .and([excludes], 'your git settings')
    .and([await excludesOf(folders)], '.git/info/exclude');
  for (const above of ['', ...withParents(prefix)].filter((path) => path.length < prefix.length)) {
    if (statsOf(join(top, above, '.gitignore'))?.isFile())
      rules = await rules.with(top, `${above}.gitignore`);
  }
  const known = new Set<string>();
  for (const { path } of tracked) {
    for (let name = fold(path); name !== '' && !known.has(name); ) {
      effort.spend('steps', name.length);
      known.add(name);
      name = name.slice(0, name.lastIndexOf('/', name.length - 2) + 1);
    }
  }
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
  const leftOut: Exclusion[] = [];
  const isIgnored = prefix !== '' && rules.match(prefix);
  const walked = isIgnored
    ? []
    : await walkFrom({ root: top, ignoreFiles: ['.gitignore'], leaves, leftOut }, prefix, rules);
  const files = walked.filter((path) => !known.has(fold(path)));
  requireIgnoreFiles(top, tracked, files);
  return {
    files,
    repositories,
    leftOut: leftOut.filter(({ path }) => !known.has(fold(path)) || path.endsWith('/')),
  };
}

/** If an ignore file isn't checked out, git reads it from its object. It may name new files next to it. */
function requireIgnoreFiles(top: string, tracked: readonly Tracked[], files: readonly string[]): void {
  const folders = new Set(files.flatMap((file) => ['', ...withParents(file)]));
  for (const { path, kind, isSkipped } of tracked) {
    const isIgnoreFile = isSkipped && /(?:^|\/)\.gitignore$/.test(path) && !existsSync(join(top, path));
    const folder = isIgnoreFile ? path.slice(0, -'.gitignore'.length) : path;
    if (!(isIgnoreFile || kind === 'sparse folder') || !folders.has(folder)) continue;
    const file = files.find((name) => name.startsWith(folder));
    const sentence = `${path} is not checked out, and it may exclude ${file}, which is not in git.`;
    throw new Failure('usage', `${sentence} Check it out: git sparse-checkout disable.`, { about: path });
  }
}

async function excludesOf(folders: GitFolders): Promise<string> {
  // It may name any file of the machine, and the choice of published files would reveal its lines.
  if (await ownSetting(folders, 'core.excludesfile'))
    throw unreadable('its own settings name a core.excludesFile; put its lines into .git/info/exclude');
  return (await readRepository(join(folders.common, 'info/exclude')))?.toString() ?? '';
}
