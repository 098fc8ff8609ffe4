import type { Machine } from '../values/machine.ts';
import { find } from './pattern-matching.ts';
import { parsePattern } from './pattern-syntax.ts';

export const folderOrder = 'a folder is listed in any order';

/** The pack's files that match a pattern of `*`, `?`, `[…]` and `**`; undefined if it leads outside. */
export function matching(machine: Machine, pattern: string, recursive: boolean): string[] | undefined {
  const parts = pattern.split('/').filter((part, index) => part !== '' || index === 0);
  const fixed = parts.findIndex((part) => /[*?[]/.test(part));
  const base = fixed < 0 ? parts.slice(0, -1) : parts.slice(0, fixed);
  const root = machine.files.inside(base.join('/') || '/');
  if (root === undefined) return undefined;
  const found: string[] = [];
  collect(root, parts.slice(base.length));
  return found.map((path) => `${machine.files.root}/${path}`);

  function collect(folder: string, [part, ...rest]: readonly string[]): void {
    if (part === undefined) return;
    machine.budget.spend();
    const isDeep = part === '**' && recursive;
    if (isDeep) collect(folder, rest);
    for (const name of machine.files.list(folder)) {
      machine.budget.spend();
      const path = folder === '' ? name : `${folder}/${name}`;
      const isFolder = machine.files.isFolder(path);
      if (isDeep) {
        if (isFolder) collect(path, [part, ...rest]);
        else if (rest.length === 0) found.push(path);
      } else if (matchesName(machine, part, name) && !(name.startsWith('.') && !part.startsWith('.'))) {
        if (rest.length === 0) found.push(path);
        else if (isFolder) collect(path, rest);
      }
    }
  }
}

/** Whether a file name matches a pattern of the pack, which takes steps like the pack's expressions. */
function matchesName(machine: Machine, pattern: string, name: string): boolean {
  machine.budget.spend(pattern.length);
  const source = pattern.replaceAll(/\*+|\[(?:![\s\S]|[^!])[^\]]*\]|\W/g, (token) => {
    if (token.startsWith('*')) return '.*';
    if (token === '?') return '.';
    if (token.length === 1) return `\\${token}`;
    const set = token.slice(1, -1).replaceAll(/[\\^]/g, '\\$&');
    return `[${set.replace(/^!/, '^')}]`;
  });
  const flags = { ignoreCase: false, multiline: false, dotAll: true };
  const spend = (steps?: number) => machine.budget.spend(steps);
  return find(parsePattern(source, flags), name, 0, spend, { anchored: true, whole: true }) !== undefined;
}
