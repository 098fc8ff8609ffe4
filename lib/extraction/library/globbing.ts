import type { Machine } from '../values/machine.ts';

/** The pack's files that a pattern of `*`, `?`, `[…]` and `**` names; undefined where it leads outside. */
export function matching(machine: Machine, pattern: string, recursive: boolean): string[] | undefined {
  const parts = pattern.split('/').filter((part, index) => part !== '' || index === 0);
  const fixed = parts.findIndex((part) => /[*?[]/.test(part));
  const base = fixed < 0 ? parts.slice(0, -1) : parts.slice(0, fixed);
  const root = machine.files.inside(base.join('/') || '/');
  if (root === undefined) return undefined;
  const found: string[] = [];
  collect(machine, root, parts.slice(base.length), recursive, found);
  return found.map((path) => `${machine.files.root}/${path}`);
}

function collect(
  machine: Machine,
  folder: string,
  parts: readonly string[],
  recursive: boolean,
  found: string[],
): void {
  const [part, ...rest] = parts;
  if (part === undefined) return;
  machine.budget.spend();
  if (part === '**' && recursive) collect(machine, folder, rest, recursive, found);
  for (const name of machine.files.list(folder)) {
    machine.budget.spend();
    const path = folder === '' ? name : `${folder}/${name}`;
    const isFolder = machine.files.isFolder(path);
    if (part === '**' && recursive) {
      if (isFolder) collect(machine, path, parts, recursive, found);
      else if (rest.length === 0) found.push(path);
    } else if (matchesName(machine, part, name) && !(name.startsWith('.') && !part.startsWith('.'))) {
      if (rest.length === 0) found.push(path);
      else if (isFolder) collect(machine, path, rest, recursive, found);
    }
  }
}

/**
 * Whether a file name matches a pattern. No regular expression: the pattern is the pack's, and one with many stars
 * would take exponential time. The walk remembers the last star only, which is enough.
 */
export function matchesName(machine: Machine, pattern: string, name: string): boolean {
  let [at, place, star, retry] = [0, 0, -1, 0];
  while (place < name.length) {
    machine.budget.spend();
    const width = tokenWidth(pattern, at);
    if (pattern[at] === '*') {
      star = at;
      retry = place;
      at += 1;
    } else if (width > 0 && fits(pattern.slice(at, at + width), name.charAt(place))) {
      at += width;
      place += 1;
    } else if (star >= 0) {
      at = star + 1;
      retry += 1;
      place = retry;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at >= pattern.length;
}

function tokenWidth(pattern: string, at: number): number {
  if (at >= pattern.length) return 0;
  const close = pattern[at] === '[' ? pattern.indexOf(']', at + 2) : -1;
  return close < 0 ? 1 : close - at + 1;
}

function fits(token: string, character: string): boolean {
  if (token === '?') return true;
  if (token.length === 1) return token === character;
  const negated = token[1] === '!';
  const set = token.slice(negated ? 2 : 1, -1);
  let isIn = false;
  for (let index = 0; index < set.length; index += 1) {
    const isRange = set[index + 1] === '-' && index + 2 < set.length;
    if (isRange) {
      isIn ||= character >= set.charAt(index) && character <= set.charAt(index + 2);
      index += 2;
    } else isIn ||= set[index] === character;
  }
  return isIn !== negated;
}
