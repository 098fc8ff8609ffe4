import { existsSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Failure } from '../failure.ts';
import { gitFiles } from './git-files.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { includedFiles } from './includes.ts';
import { walk } from './walk.ts';

export interface FileList {
  /** With `/`, relative to the folder, in the order of their characters' codes. */
  paths: string[];
  chosenBy: 'git' | 'ignore files';
  notes: string[];
  /** What cannot be published, or was asked for and is not there; the paths are without it. */
  failures: Failure[];
}

const publishIgnore = '.publishignore';

/** The files of a folder that are published, before anything is asked of them. */
export async function listFiles(folder: string, includes: readonly string[] = []): Promise<FileList> {
  const root = await realpath(folder).catch((error) => {
    throw new Failure('usage', `The folder cannot be read: ${error.message}`);
  });
  const fromGit = await gitFiles(root);
  const chosen = fromGit?.paths ?? (await walk(root));
  const included = await includedFiles(root, includes);
  const all = [...new Set([...chosen, ...included.files])];
  const listed = (await withoutIgnored(root, all)).sort();
  const { paths, failures } = await onlyFiles(root, listed);
  return {
    paths,
    chosenBy: fromGit ? 'git' : 'ignore files',
    notes: fromGit?.notes ?? [],
    failures: [...included.failures, ...failures],
  };
}

/** What a .publishignore names is left out, whatever chose it; the outermost counts even if git ignores it. */
async function withoutIgnored(root: string, paths: readonly string[]): Promise<string[]> {
  const hasOutermost = existsSync(join(root, publishIgnore));
  const ignoreFiles = [...new Set(hasOutermost ? [publishIgnore, ...paths] : paths)]
    .filter((path) => path === publishIgnore || path.endsWith(`/${publishIgnore}`))
    .sort((a, b) => a.split('/').length - b.split('/').length);
  let rules = new IgnoreRules();
  for (const path of ignoreFiles) rules = await rules.with(root, path);
  return paths.filter((path) => !rules.match(path));
}

/** A zip has no links that every system unpacks, so one to a published file becomes a copy of it. */
async function onlyFiles(
  root: string,
  paths: readonly string[],
): Promise<Pick<FileList, 'paths' | 'failures'>> {
  const published = new Set(paths);
  const problems: { path: string; message: string }[] = [];
  for (const path of paths.filter((name) => !name.includes('\uFFFD'))) {
    const stats = await lstat(join(root, path));
    if (stats.isFile()) continue;
    if (!stats.isSymbolicLink()) {
      problems.push({ path, message: 'is neither a file nor a folder. Leave it out.' });
      continue;
    }
    const target = await realpath(join(root, path)).catch(() => undefined);
    const name = target === undefined ? undefined : relative(root, target).replaceAll('\\', '/');
    if (name !== undefined && published.has(name)) continue;
    problems.push({
      path,
      message: `is a link to ${name === undefined ? 'nothing' : 'something that is not published'}. Put the file in its place.`,
    });
  }
  const others = new Set(problems.map(({ path }) => path));
  const sentence = 'Some of it cannot be published. A .publishignore file leaves things out.';
  return {
    paths: paths.filter((path) => !others.has(path)),
    failures: problems.length > 0 ? [new Failure('usage', sentence, { problems })] : [],
  };
}
