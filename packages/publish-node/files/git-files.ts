import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { findGit, runGit } from './run-git.ts';

export interface GitFiles {
  /** The `git` that listed them. */
  program: string;
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
 * folder is in no work tree, or in one that ignores it. Submodules are listed with the `git` of the outermost one.
 */
export async function gitFiles(folder: string, ofOutermost?: string): Promise<GitFiles | undefined> {
  const top = workTreeOf(folder);
  if (top === undefined) return undefined;
  const program = ofOutermost ?? findGit(top);
  const place = relative(top, folder).replaceAll('\\', '/');
  const prefix = place === '' ? '' : `${place}/`;
  const options = ['-z', '-t', '--stage', '--cached', '--others', '--exclude-standard'];
  // From the top, since a folder below it may be a repository that git would choose.
  const output = await runGit({ top, folder, program }, [
    ...['ls-files', ...options, '--'],
    ...(prefix === '' ? [] : [prefix]),
  ]);
  const found: GitFiles = { program, paths: [], objects: new Map(), notes: [], emptySubmodules: [] };
  const listed = new Map(
    output
      .split('\0')
      .filter((entry) => entry !== '')
      .map(entryOf)
      .filter(({ path }) => path.startsWith(prefix))
      .map(({ path, object }) => [path.slice(prefix.length), object]),
  );
  if (listed.size === 0) return undefined;
  for (const [path, object] of listed) await add(found, folder, path, object);
  return found;
}

/** `? new.py`, or `H 100644 <object> 0<tab>tracked.py` with another letter for what differs from a plain entry. */
function entryOf(entry: string): { path: string; object: string | undefined } {
  if (entry.startsWith('? ')) return { path: entry.slice(2), object: undefined };
  const tab = entry.indexOf('\t');
  return { path: entry.slice(tab + 1), object: entry.slice(0, tab).split(' ')[2] };
}

async function add(found: GitFiles, folder: string, path: string, object: string | undefined): Promise<void> {
  if (path.endsWith('/')) {
    found.notes.push(`${path} is left out: it is another git repository, and not a submodule of this one.`);
    return;
  }
  // A name that is not UTF-8 is reported with the other names, and cannot be looked up.
  const stats = path.includes('\uFFFD') ? undefined : await lstat(join(folder, path)).catch(() => null);
  if (stats === null) found.notes.push(`${path} is left out: it is in git, but not in the folder.`);
  else if (stats?.isDirectory()) await addSubmodule(found, folder, path);
  else {
    found.paths.push(path);
    if (object !== undefined) found.objects.set(path, object);
  }
}

async function addSubmodule(found: GitFiles, folder: string, path: string): Promise<void> {
  const inner = existsSync(join(folder, path, '.git'))
    ? await gitFiles(join(folder, path), found.program)
    : undefined;
  if (inner === undefined) {
    found.emptySubmodules.push(path);
    return;
  }
  found.paths.push(...inner.paths.map((file) => `${path}/${file}`));
  for (const [file, object] of inner.objects) found.objects.set(`${path}/${file}`, object);
  found.notes.push(...inner.notes.map((note) => `${path}/${note}`));
  found.emptySubmodules.push(...inner.emptySubmodules.map((empty) => `${path}/${empty}`));
}

export function workTreeOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : workTreeOf(parent);
}
