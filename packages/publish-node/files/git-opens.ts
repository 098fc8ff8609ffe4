import { existsSync, type Stats, statSync } from 'node:fs';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Failure } from '../failure.ts';

/*
 * Git reads what a repository names to its end. A pipe has none, and a device such as /dev/zero fills the memory. So
 * whatever git may open is looked at before git starts.
 */

interface Place {
  path: string;
  /** Part of a repository, whose folders are looked at too, a file of settings, or another list that git reads. */
  kind: 'repository' | 'settings' | 'list';
}

/** Packed refs and objects do not count. */
const maxPlaces = 100_000;
const maxReadBytes = 1_000_000;

/** Rejects a folder of a work tree for which git would open something that is neither a file nor a folder. */
export async function requirePlainFiles(top: string, folder: string): Promise<void> {
  const places: Place[] = [{ path: join(top, '.git'), kind: 'repository' }, ...(await placesBelow(folder))];
  for (let above = folder; above.length >= top.length && above !== dirname(above); above = dirname(above)) {
    places.push({ path: join(above, '.gitignore'), kind: 'list' });
  }
  const seen = new Set<string>();
  for (const place of places) {
    const stats = await requirePlain(place);
    // What a file names is relative to its folder, and a linked folder may lead back into itself.
    const identity = `${place.kind} ${stats?.isDirectory() ? `${stats.dev}:${stats.ino}` : place.path}`;
    if (stats === undefined || seen.has(identity)) continue;
    if (seen.size >= maxPlaces) throw unreadable(`it has over ${maxPlaces} files, without packed objects`);
    seen.add(identity);
    places.push(...(stats.isDirectory() ? await placesIn(place) : await placesNamedBy(place)));
  }
  await requireRepository(top);
}

async function requirePlain(place: Place): Promise<Stats | undefined> {
  // A link counts as what it leads to.
  const stats = await stat(place.path).catch(() => undefined);
  if (stats === undefined || stats.isDirectory()) return stats;
  // Neither makes git wait: a daemon of git has its socket here, and people link what they do not want to /dev/null.
  if (stats.isSocket() || stats.rdev === emptyDevice) return undefined;
  if (!stats.isFile())
    throw unreadable(`${place.path} is neither a file nor a folder, and git would wait for it`);
  if (stats.size > maxReadBytes && isSettings(place))
    throw unreadable(`${place.path} has over 1 MB, and git would read all of it`);
  return stats;
}

const emptyDevice = statSync('/dev/null', { throwIfNoEntry: false })?.rdev ?? Number.NaN;

function unreadable(why: string): Failure {
  return new Failure('usage', `The folder is in a git repository that cannot be read: ${why}.`);
}

/** What git reads whole before it lists anything; an index or a pack may be large. */
function isSettings({ path, kind }: Place): boolean {
  const name = basename(path);
  return kind !== 'repository' || name.startsWith('config') || isPointer(path) || name === 'exclude';
}

/** A branch may have such a name, too. */
function isPointer(path: string): boolean {
  const name = basename(path);
  if (name === 'alternates') return basename(dirname(path)) === 'info';
  return name === '.git' || (name === 'commondir' && existsSync(join(dirname(path), 'HEAD')));
}

/** In a work tree git opens ignore files, and looks into other repositories to leave them out. */
async function placesBelow(folder: string): Promise<Place[]> {
  const places: Place[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.name === '.git') places.push({ path, kind: 'repository' });
    else if (entry.isDirectory()) places.push(...(await placesBelow(path)));
    else if (entry.name === '.gitignore' || (entry.name.startsWith('.git') && !entry.isFile()))
      places.push({ path, kind: 'list' });
  }
  return places;
}

async function placesIn({ path, kind }: Place): Promise<Place[]> {
  if (kind !== 'repository') return [];
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  // Plain objects are many, and name no other file.
  const isObject = (name: string) => /^(?:[0-9a-f]{38}|[0-9a-f]{62}|pack-.*)$/.test(name);
  return entries
    .filter((entry) => !(entry.isFile() && isObject(entry.name)))
    .map(({ name }) => ({ path: join(path, name), kind }));
}

/** The other folders of a repository, its objects elsewhere, and the files that a configuration names. */
async function placesNamedBy(place: Place): Promise<Place[]> {
  const { path, kind } = place;
  const isPointing = kind === 'repository' && isPointer(path);
  if (!isPointing && kind !== 'settings' && !basename(path).startsWith('config')) return [];
  const text = await readFile(path, 'utf8').catch(() => '');
  if (!isPointing)
    return settingsIn(text).map(({ named, ...rest }) => placeOf(dirname(path), named, rest.kind));
  if (basename(path) !== 'alternates') return [placeOf(dirname(path), pointedBy(text), 'repository')];
  // Alternates are relative to the folder of the objects.
  const base = dirname(dirname(path));
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((named) => placeOf(base, named, 'repository'));
}

/** A comment, a section's name, or a setting with its value as git reads one: quoted in parts, and continued on lines. In linear time. */
const setting =
  /[#;][^\n]*|\[(?:"(?:\\.|[^"\\\n])*"|[^"\]\n])*\]?|(?<![a-z0-9-])([a-z][a-z0-9-]*)[ \t]*=((?:\\\r?\n|\\.|"(?:\\\r?\n|\\.|[^"\\\n])*"|[^"\\\n#;])*)/gi;

/** The files that settings name: of actions/checkout, too, which includes one with its credentials. */
function settingsIn(text: string): { named: string; kind: Place['kind'] }[] {
  let section = '';
  return [...text.matchAll(setting)].flatMap(([token, name = '', value = '']) => {
    if (token.startsWith('[')) section = token;
    const isInclusion = /^path$/i.test(name) && /^\[[ \t]*include/i.test(section);
    if (!isInclusion && !/^(?:excludesfile|attributesfile)$/i.test(name)) return [];
    const named = withoutBlanks(value).replaceAll(/\\\r?\n|"|\\(.)/g, (_, sign = '') =>
      'btn'.includes(sign) && sign ? '\t' : sign,
    );
    return [{ named, kind: isInclusion ? 'settings' : 'list' }];
  });
}

/** Git knows fewer blanks than `trim`. */
function withoutBlanks(value: string): string {
  const isBlank = (sign = '') => /^[ \t\v\f\r\n]$/.test(sign);
  let [start, end] = [0, value.length];
  while (isBlank(value[start])) start += 1;
  while (end > start && isBlank(value[end - 1])) end -= 1;
  return value.slice(start, end);
}

function placeOf(base: string, named: string, kind: Place['kind']): Place {
  // Another user's home, git's own folder, and what versions of git read differently.
  if (/^(?:~(?!\/)|%\(|")|[\0\t\r\n\uFFFD]/.test(named))
    throw unreadable(`it names ${JSON.stringify(named)}, and only git knows where that is`);
  return { path: named.startsWith('~/') ? join(homedir(), named.slice(2)) : resolve(base, named), kind };
}

/** What a `.git` file or a `commondir` names. */
function pointedBy(text: string): string {
  return text.replace(/^gitdir: /, '').replace(/[\r\n]+$/, '');
}

/** Rejects a `.git` that git ignores: git would then look at the folder itself, and at those above it. */
async function requireRepository(top: string): Promise<void> {
  const { git, common } = await foldersOf(join(top, '.git'));
  const head = await readlink(join(git, 'HEAD')).then(
    (ref) => `ref: ${ref}`,
    () => beginningOf(join(git, 'HEAD')),
  );
  const isHead = /^(?:ref:[ \t]{0,9}refs\/|[0-9a-f]{40})/.test(head);
  const hasAll = ['objects', 'refs'].every((name) => existsSync(join(common, name)));
  if (!isHead || !hasAll) throw unreadable(`${join(top, '.git')} is not valid`);
}

async function beginningOf(path: string): Promise<string> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() && stats.size <= maxReadBytes ? readFile(path, 'utf8') : '';
}

async function foldersOf(path: string): Promise<{ git: string; common: string }> {
  const file = await readFile(path, 'utf8').catch(() => undefined);
  const git = file === undefined ? path : resolve(dirname(path), pointedBy(file));
  const common = await readFile(join(git, 'commondir'), 'utf8').catch(() => '.');
  return { git, common: resolve(git, pointedBy(common)) };
}
