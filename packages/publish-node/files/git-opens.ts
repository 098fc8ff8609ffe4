import { existsSync, type Stats } from 'node:fs';
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
  /** Part of a repository, whose folders are looked at too, or a file of settings. */
  kind: 'repository' | 'settings';
}

/** More than a repository has. Git's time limit ends the rest. */
const maxPlaces = 100_000;
const maxReadBytes = 1_000_000;

/** Rejects a folder of a work tree for which git would open something that is neither a file nor a folder. */
export async function requirePlainFiles(top: string, folder: string): Promise<void> {
  const places: Place[] = [{ path: join(top, '.git'), kind: 'repository' }, ...(await placesBelow(folder))];
  for (let above = folder; above.length >= top.length && above !== dirname(above); above = dirname(above)) {
    places.push({ path: join(above, '.gitignore'), kind: 'settings' });
  }
  const seen = new Set<string>();
  for (const place of places) {
    const stats = await requirePlain(place);
    const identity = `${place.kind} ${stats?.dev}:${stats?.ino}`;
    if (stats === undefined || seen.has(identity) || seen.size > maxPlaces) continue;
    seen.add(identity);
    places.push(...(stats.isDirectory() ? await placesIn(place) : await placesNamedBy(place)));
  }
  await requireRepository(top);
}

async function requirePlain(place: Place): Promise<Stats | undefined> {
  // A link counts as what it leads to.
  const stats = await stat(place.path).catch(() => undefined);
  if (stats === undefined || stats.isDirectory()) return stats;
  if (!stats.isFile())
    throw unreadable(`${place.path} is neither a file nor a folder, and git would wait for it`);
  if (stats.size > maxReadBytes && isSettings(place))
    throw unreadable(`${place.path} has over 1 MB, and git would read all of it`);
  return stats;
}

function unreadable(why: string): Failure {
  return new Failure('usage', `The folder is in a git repository that cannot be read: ${why}.`);
}

/** What git reads whole before it lists anything; an index or a pack may be large. */
function isSettings({ path, kind }: Place): boolean {
  const name = basename(path);
  return kind === 'settings' || name.startsWith('config') || isPointer(name) || name === 'exclude';
}

function isPointer(name: string): boolean {
  return ['.git', 'commondir', 'alternates'].includes(name);
}

/** In a work tree git opens ignore files, and looks into other repositories to leave them out. */
async function placesBelow(folder: string): Promise<Place[]> {
  const places: Place[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.name === '.git') places.push({ path, kind: 'repository' });
    else if (entry.isDirectory()) places.push(...(await placesBelow(path)));
    else if (entry.name === '.gitignore' || (entry.name.startsWith('.git') && !entry.isFile()))
      places.push({ path, kind: 'settings' });
  }
  return places;
}

async function placesIn({ path, kind }: Place): Promise<Place[]> {
  if (kind === 'settings') return [];
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  // Plain objects are many, and name no other file.
  const isObject = (name: string) => /^(?:[0-9a-f]{38}|[0-9a-f]{62}|pack-.*)$/.test(name);
  return entries
    .filter((entry) => !(entry.isFile() && isObject(entry.name)))
    .map(({ name }) => ({ path: join(path, name), kind }));
}

/** The other folders of a repository, its objects elsewhere, and the files that a configuration names. */
async function placesNamedBy(place: Place): Promise<Place[]> {
  const { path } = place;
  const name = basename(path);
  if (!isSettings(place) || ['.gitignore', 'exclude'].includes(name)) return [];
  const text = await readFile(path, 'utf8').catch(() => '');
  if (!isPointer(name)) return settingsIn(text).map((named) => placeOf(dirname(path), named, 'settings'));
  if (name !== 'alternates') return [placeOf(dirname(path), pointedBy(text), 'repository')];
  // Alternates are relative to the folder of the objects.
  const base = dirname(dirname(path));
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((named) => placeOf(base, named, 'repository'));
}

/** A comment, a section's name, or a setting with its value as git reads one: quoted in parts, and continued on lines. In linear time. */
const setting =
  /[#;][^\n]*|\[(?:"(?:\\.|[^"\\\n])*"|[^"\]\n])*\]?|(?<![a-z0-9-])([a-z][a-z0-9-]*)[ \t]*=((?:\\\r?\n|\\.|"(?:\\\r?\n|\\.|[^"\\\n])*"|[^"\\\n#;])*)/gi;

/** The files that settings name: of actions/checkout, too, which includes one with its credentials. */
function settingsIn(text: string): string[] {
  return [...text.matchAll(setting)]
    .filter(([, name = '']) => /^(?:path|excludesfile|attributesfile)$/i.test(name))
    .map(([, , value = '']) =>
      value
        .trim()
        .replaceAll(/\\\r?\n|"|\\(.)/g, (_, sign = '') => ('btn'.includes(sign) && sign ? '\t' : sign)),
    );
}

function placeOf(base: string, named: string, kind: Place['kind']): Place {
  // A home of somebody else, a folder of git, and what versions of git read differently.
  if (/^(?:~(?!\/)|%\(|")|[\t\r\n\uFFFD]/.test(named))
    throw unreadable(`it names ${JSON.stringify(named)}, and only git knows where that is`);
  return { path: named.startsWith('~/') ? join(homedir(), named.slice(2)) : resolve(base, named), kind };
}

/** What a `.git` file or a `commondir` names. */
function pointedBy(text: string): string {
  return text.replace(/^gitdir: /, '').replace(/[\r\n]+$/, '');
}

/** Rejects a `.git` that git takes for none: it would look at the folder itself, and at those above it. */
async function requireRepository(top: string): Promise<void> {
  const { git, common } = await foldersOf(join(top, '.git'));
  const head = await readlink(join(git, 'HEAD')).then(
    (ref) => `ref: ${ref}`,
    () => beginningOf(join(git, 'HEAD')),
  );
  const isHead = /^(?:ref:[ \t]{0,9}refs\/|[0-9a-f]{40})/.test(head);
  const hasAll = ['objects', 'refs'].every((name) => existsSync(join(common, name)));
  if (!isHead || !hasAll) throw unreadable(`${join(top, '.git')} is not one`);
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
