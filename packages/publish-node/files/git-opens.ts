import type { Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
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
    const stats = await requirePlain(place.path);
    const identity = `${place.kind} ${stats?.dev}:${stats?.ino}`;
    if (stats === undefined || seen.has(identity) || seen.size > maxPlaces) continue;
    seen.add(identity);
    places.push(...(stats.isDirectory() ? await placesIn(place) : await placesNamedBy(place, stats)));
  }
}

async function requirePlain(path: string): Promise<Stats | undefined> {
  // A link counts as what it leads to.
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || stats.isFile() || stats.isDirectory()) return stats;
  throw new Failure(
    'usage',
    `The folder is in a git repository that cannot be read: ${path} is neither a file nor a folder, and git would wait for it.`,
  );
}

/** In a work tree git opens ignore files, and looks into other repositories to leave them out. */
async function placesBelow(folder: string): Promise<Place[]> {
  const places: Place[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.name === '.git') places.push({ path, kind: 'repository' });
    else if (entry.isDirectory()) places.push(...(await placesBelow(path)));
    else if (entry.name.startsWith('.git') && !entry.isFile()) places.push({ path, kind: 'settings' });
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
async function placesNamedBy({ path, kind }: Place, { size }: Stats): Promise<Place[]> {
  const name = basename(path);
  const isConfiguration = kind === 'settings' || name.startsWith('config');
  const isPointer = ['.git', 'commondir', 'alternates'].includes(name);
  if ((!isConfiguration && !isPointer) || size > maxReadBytes) return [];
  const text = await readFile(path, 'utf8').catch(() => '');
  if (isConfiguration) return settingsIn(text).map((named) => placeOf(dirname(path), named, 'settings'));
  // Alternates are relative to the folder of the objects.
  const base = name === 'alternates' ? dirname(dirname(path)) : dirname(path);
  const lines = text.split(/\r?\n/).map((line) => line.replace(/^gitdir: */, ''));
  return lines.filter((line) => line !== '').map((named) => placeOf(base, named, 'repository'));
}

function settingsIn(text: string): string[] {
  const setting = /\b(?:path|excludesfile|attributesfile)[ \t]*=[ \t]*"?([^"\r\n]+)/gi;
  return [...text.matchAll(setting)].map(([, value = '']) => value.trim());
}

function placeOf(base: string, named: string, kind: Place['kind']): Place {
  return { path: named.startsWith('~/') ? join(homedir(), named.slice(2)) : resolve(base, named), kind };
}
