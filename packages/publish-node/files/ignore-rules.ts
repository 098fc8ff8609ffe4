import { Failure } from '../failure.ts';
import { type IgnorePattern, ignorePattern, ignorePatterns, withParents } from './ignore-pattern.ts';
import { readOwnFile } from './own-file.ts';

interface Rules {
  /** Relative to the folder that is published, '' or ending with a slash. */
  folder: string;
  patterns: readonly IgnorePattern[];
}

/** Ignore files at any depth; the innermost one that has an opinion decides, and nothing returns to an excluded folder. */
export class IgnoreRules {
  readonly #rules: readonly Rules[];
  readonly #known = new Map<string, boolean>();

  constructor(rules: readonly Rules[] = []) {
    this.#rules = rules;
  }

  /** These rules and patterns for the whole folder. */
  and(lines: readonly string[]): IgnoreRules {
    return new IgnoreRules([...this.#rules, { folder: '', patterns: ignorePatterns(lines.join('\n')) }]);
  }

  /** These rules and those of a deeper file. */
  async with(root: string, path: string): Promise<IgnoreRules> {
    const patterns = ignorePatterns(await readRules(root, path));
    return new IgnoreRules([...this.#rules, { folder: path.slice(0, path.lastIndexOf('/') + 1), patterns }]);
  }

  /** A folder's path ends with a slash. */
  match(path: string): boolean {
    return withParents(path).some((name) => {
      const isIgnored = this.#known.get(name) ?? this.#ignores(name);
      this.#known.set(name, isIgnored);
      return isIgnored;
    });
  }

  #ignores(path: string): boolean {
    for (const { folder, patterns } of this.#rules.toReversed()) {
      if (!path.startsWith(folder) || path === folder) continue;
      const found = patterns.findLast(({ matches }) => matches(path.slice(folder.length)));
      if (found) return !found.isNegated;
    }
    return false;
  }
}

/** Rules of which the last match decides, even in an excluded folder: Python's pathspec reads them so, and packs rely on it. */
export class LastMatchRules {
  readonly #patterns: readonly IgnorePattern[];

  constructor(text: string) {
    this.#patterns = text.split('\n').flatMap((line) => ignorePattern(line.trim()) ?? []);
  }

  match(path: string): boolean {
    const names = withParents(path);
    const found = this.#patterns.findLast(({ matches }) => names.some(matches));
    return found !== undefined && !found.isNegated;
  }
}

/** An ignore file that cannot be read fails: what it would leave out must not be published. */
export async function readRules(root: string, path: string): Promise<string> {
  const file = await readOwnFile(root, path);
  if (file !== undefined) return file.content.toString();
  throw new Failure('usage', `${path} is not a file of the folder that can be read.`);
}
