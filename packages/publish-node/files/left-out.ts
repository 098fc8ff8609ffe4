import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Exclusion } from './ignore-rules.ts';

/** A file that a rule leaves out, or a folder, with the files that are therefore not published. */
export interface LeftOut extends Exclusion {
  files: string[];
}

const maxFiles = 20_000;
const maxNames = 5;

/** The files below each exclusion, except published ones, such as those that git tracks or `includes` names. */
export function leftOutFiles(
  root: string,
  exclusions: readonly Exclusion[],
  published: ReadonlySet<string>,
): { leftOut: LeftOut[]; isCut: boolean } {
  const budget = { entries: maxFiles };
  const paths = new Map(exclusions.map((exclusion) => [exclusion.path, exclusion]));
  const leftOut = [...paths.values()]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((exclusion) => {
      const { path } = exclusion;
      const found = path.endsWith('/') ? filesBelow(root, path, budget) : [path];
      return { ...exclusion, files: found.filter((file) => !published.has(file)) };
    });
  return { leftOut: leftOut.filter(({ files }) => files.length > 0), isCut: budget.entries <= 0 };
}

function filesBelow(root: string, folder: string, budget: { entries: number }): string[] {
  const entries = entriesOf(join(root, folder));
  const files: string[] = [];
  for (const entry of entries) {
    if (budget.entries <= 0) break;
    budget.entries -= 1;
    const path = folder + entry.name;
    if (!entry.isDirectory()) files.push(path);
    else if (entry.name !== '.git') for (const file of filesBelow(root, `${path}/`, budget)) files.push(file);
  }
  return files;
}

/** A folder that can't be opened may be left out, too. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function leftOutNotes(leftOut: readonly LeftOut[], isCut: boolean): string[] {
  const rules = [...new Set(leftOut.map(({ rule }) => rule))];
  const notes = rules.map((rule) => {
    const all = leftOut.filter((each) => each.rule === rule);
    const count = countOf(all);
    const names = all
      .slice(0, maxNames)
      .map(({ path, files }) => (path.endsWith('/') ? `${path} (${files.length})` : path));
    const more = all.length > maxNames ? ` and ${all.length - maxNames} more` : '';
    return `${count} ${count === 1 ? 'file is' : 'files are'} left out ${rule}: ${names.join(', ')}${more}.`;
  });
  return isCut ? [...notes, `Over ${maxFiles} files are left out; the others are not counted.`] : notes;
}

export function countOf(leftOut: readonly LeftOut[]): number {
  return leftOut.reduce((total, { files }) => total + files.length, 0);
}
