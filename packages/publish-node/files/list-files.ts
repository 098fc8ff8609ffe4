import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { normalizeVersion } from '@node-registry/registry-rules/version-label';
import { Failure, type Problem, rejection } from '../failure.ts';
import { Effort } from './effort.ts';
import { gitFiles } from './git-files.ts';
import { namedSubmodules } from './git-settings.ts';
import { type Exclusion, IgnoreRules, LastMatchRules, readRules } from './ignore-rules.ts';
import { ignorePattern, pathOf, withParents } from './ignore-pattern.ts';
import { realPlace, statsOf } from './own-file.ts';
import { type LeftOut, leftOutFiles, leftOutNotes } from './left-out.ts';
import { junkRules, walk, walkAll } from './walk.ts';

export interface FileList {
  /** With `/`, relative to the folder, sorted by character codes. */
  paths: string[];
  chosenBy: 'git' | 'ignore files';
  notes: string[];
  leftOut: LeftOut[];
  /** Git's object for a tracked file; undefined without git. */
  objects: ReadonlyMap<string, string> | undefined;
  /** Files that can't be published, and entries that match nothing. */
  failures: Failure[];
}

const publishIgnore = '.publishignore';
const peersIgnore = '.comfyignore';

/** The files to publish, before they are checked. */
export async function listFiles(folder: string, includes: readonly string[] = []): Promise<FileList> {
  const root = await realpath(folder);
  const fromGit = await gitFiles(root);
  const excluded: Exclusion[] = fromGit?.leftOut ?? [];
  const chosen = fromGit?.paths ?? (await walk(root, excluded));
  const included = await includedFiles(root, includes);
  const all = [...new Set([...chosen, ...included.files])];
  const rules = await publishIgnores(root, all);
  const peers = await peersRules(root);
  const junk = junkRules();
  const forced = new Set(included.files);
  const isOurs = (path: string) => isOwnArchive(path) && !fromGit?.objects.has(path);
  const ruleFor = (path: string) =>
    rules.find(path) ?? (forced.has(path) ? undefined : (peers.find(path) ?? junk.find(path)));
  const isLeftOut = (path: string) => ruleFor(path) !== undefined || (!forced.has(path) && isOurs(path));
  const listed = all.filter((path) => !isLeftOut(path)).sort();
  const byRule = all.flatMap((path) => ruleFor(path) ?? []);
  const { leftOut, isCut } = leftOutFiles(root, [...excluded, ...byRule], new Set(listed));
  const { paths, failures, notes } = onlyFiles(root, listed);
  const isWanted = (path: string) => !isLeftOut(`${path}/`);
  const named = fromGit ? [] : (await namedSubmodules(root)).filter(isWanted);
  const missing = fromGit?.emptySubmodules.filter(isWanted) ?? named.filter((path) => isEmpty(root, path));
  const empty = missing.map((path) => ({ path, message: 'is empty.' }));
  return {
    paths,
    chosenBy: fromGit ? 'git' : 'ignore files',
    notes: [
      ...(fromGit?.notes ?? []),
      ...all.filter((path) => isOurs(path) && isLeftOut(path)).map(ownArchive),
      ...named.filter((path) => realPlace(root, path) === undefined).map(absentSubmodule),
      ...notes,
      ...leftOutNotes(leftOut, isCut),
    ],
    leftOut,
    objects: fromGit?.objects,
    failures: [...included.failures, ...rejection(emptySubmodules, empty), ...failures],
  };
}

/** Ignore files, however the files were chosen. The outermost one counts even if git ignores it. */
async function publishIgnores(root: string, paths: readonly string[]): Promise<IgnoreRules> {
  const hasOutermost = existsSync(join(root, publishIgnore));
  const ignoreFiles = [...new Set(hasOutermost ? [publishIgnore, ...paths] : paths)]
    .filter((path) => path === publishIgnore || path.endsWith(`/${publishIgnore}`))
    .sort((a, b) => a.split('/').length - b.split('/').length);
  let rules = new IgnoreRules();
  for (const path of ignoreFiles) rules = await rules.with(root, path);
  return rules;
}

/** The ignore file of another registry's packs; files that `includes` names are published anyway. */
async function peersRules(root: string): Promise<LastMatchRules> {
  if (!existsSync(join(root, peersIgnore))) return new LastMatchRules('', peersIgnore);
  return new LastMatchRules(await readRules(root, peersIgnore), peersIgnore);
}

/** Matches names of `pack` and `download`: otherwise, the next version would contain the last one. */
function isOwnArchive(path: string): boolean {
  const [, version] = /^[^/]+?-(\d+\.[^/]+)\.zip$/.exec(path) ?? [];
  return version !== undefined && normalizeVersion(version) !== undefined;
}

function ownArchive(path: string): string {
  return `${path} is left out: it looks like an archive that pack or download wrote. An includes entry publishes it.`;
}

/** Without git, an empty folder is all that is left of a submodule. */
function isEmpty(root: string, path: string): boolean {
  const place = join(root, path);
  return realPlace(root, path) === path && lstatSync(place).isDirectory() && readdirSync(place).length === 0;
}

function absentSubmodule(path: string): string {
  return `${path} is left out: .gitmodules names it, and it is not in the folder.`;
}

const emptySubmodules =
  'These submodules are empty. Name them in .publishignore, or run git submodule update --init --recursive in a checkout. In a job, give actions/checkout "submodules: recursive", or set GIT_SUBMODULE_STRATEGY.';

/**
 * No kind of link in a zip works on every system, so a link to a published file becomes a copy, even if a
 * parent is a link.
 */
function onlyFiles(root: string, paths: readonly string[]) {
  const published = new Set(paths);
  const problems: Problem[] = [];
  const dangling: string[] = [];
  for (const path of paths.filter((name) => !name.includes('\uFFFD'))) {
    const message = problemOf(root, path, published);
    if (message === 'nothing') dangling.push(path);
    else if (message !== undefined) problems.push({ path, message });
  }
  const others = new Set([...dangling, ...problems.map(({ path }) => path)]);
  const sentence = 'Some files cannot be published. Exclude them with .publishignore.';
  return {
    paths: paths.filter((path) => !others.has(path)),
    failures: rejection(sentence, problems),
    notes: dangling.map((path) => `${path} is left out: it is a link to nothing.`),
  };
}

function problemOf(root: string, path: string, published: ReadonlySet<string>): string | undefined {
  const stats = lstatSync(join(root, path));
  if (!stats.isFile() && !stats.isSymbolicLink()) return 'is neither a file nor a folder. Leave it out.';
  const place = realPlace(root, path);
  const isItself = place?.normalize('NFC') === path.normalize('NFC') && stats.isFile();
  if (place !== undefined && (isItself || published.has(place))) return undefined;
  if (!existsSync(join(root, path))) return 'nothing';
  return 'is a link to something that is not published. Put the file in its place.';
}

interface Included {
  files: string[];
  failures: Failure[];
}

const maxEntries = 200;

/** The files that an `includes` list names: files, folders or patterns, relative to the folder. */
async function includedFiles(root: string, includes: readonly string[]): Promise<Included> {
  const included: Included = { files: [], failures: [] };
  if (includes.length > maxEntries)
    throw new Failure('usage', `The includes list has over ${maxEntries} entries. Name folders.`);
  const effort = new Effort();
  for (const entry of includes) {
    const path = normal(entry);
    const found = path.split('/').includes('..') ? undefined : await filesOf(root, path, effort);
    if (found === undefined) included.failures.push(unusable(entry, 'leads out of the folder'));
    // It usually names build output, and the build may have been forgotten.
    else if (found.length === 0) included.failures.push(unusable(entry, 'names no file'));
    else included.files = included.files.concat(found);
  }
  return included;
}

function unusable(entry: string, why: string): Failure {
  return new Failure('usage', `The includes entry "${entry}" ${why}.`, { about: entry });
}

function normal(entry: string): string {
  return entry
    .replaceAll('\\', '/')
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '');
}

/** Undefined outside of the folder. */
async function filesOf(root: string, path: string, effort: Effort): Promise<string[] | undefined> {
  if (path === '' || path === '.') return walkAll(root, '');
  const stats = statsOf(join(root, path));
  if (stats?.isDirectory()) {
    // A link among its parents may lead outside.
    return realPlace(root, path) === undefined ? undefined : walkAll(root, `${path}/`);
  }
  if (stats) return [path];
  const pattern = ignorePattern(`/${path}`);
  const files = await walkAll(root, '');
  effort.spend('steps', 1_000 * files.length);
  return files.filter((file) =>
    withParents(file).some((name) => pattern?.matches(pathOf(name), effort) === true),
  );
}
