import { Failure } from '../failure.ts';
import { type IgnorePattern, ignorePattern, ignorePatterns, pathOf, withParents } from './ignore-pattern.ts';
import { readOwnFile } from './own-file.ts';

interface Rules {
  /** Relative to the folder that is published, '' or ending with a slash. */
  folder: string;
  patterns: readonly IgnorePattern[];
}

/** An ignore file's author may be an attacker, and each of its patterns is compared with each path. */
class Effort {
  #patterns = 0;
  #comparisons = 0;

  patternsIn(text: string): string {
    this.#patterns += text.split('\n').length;
    if (this.#patterns > 20_000) throw tooMany();
    return text;
  }

  compare(count: number, path: string): void {
    this.#comparisons += count * (1 + path.length / 32);
    if (this.#comparisons > 25_000_000) throw tooMany();
  }
}

function tooMany(): Failure {
  return new Failure('usage', 'The ignore files have too many patterns for so many files.');
}

/** Ignore files at any depth; the innermost one that has an opinion decides, and nothing returns to an excluded folder. */
export class IgnoreRules {
  readonly #rules: readonly Rules[];
  readonly #fold: (path: string) => string;
  readonly #effort: Effort;
  readonly #known = new Map<string, boolean>();

  /** `fold` makes equal names equal that differ in case only, if the folder's disk takes them for one. */
  constructor(rules: readonly Rules[] = [], fold = (path: string) => path, effort = new Effort()) {
    this.#rules = rules;
    this.#fold = fold;
    this.#effort = effort;
  }

  /** These rules and patterns for the whole folder. */
  and(lines: readonly string[]): IgnoreRules {
    return this.#and('', lines.join('\n'));
  }

  /** These rules and those of a deeper file. */
  async with(root: string, path: string): Promise<IgnoreRules> {
    return this.#and(path.slice(0, path.lastIndexOf('/') + 1), await readRules(root, path));
  }

  #and(folder: string, text: string): IgnoreRules {
    const patterns = ignorePatterns(this.#fold(this.#effort.patternsIn(text)));
    return new IgnoreRules([...this.#rules, { folder, patterns }], this.#fold, this.#effort);
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
      const name = this.#fold(path.slice(folder.length));
      this.#effort.compare(patterns.length, name);
      const bytes = pathOf(name);
      const found = patterns.findLast(({ matches }) => matches(bytes));
      if (found) return !found.isNegated;
    }
    return false;
  }
}

/** Rules of which the last match decides, even in an excluded folder: Python's pathspec reads them so, and packs rely on it. */
export class LastMatchRules {
  readonly #patterns: readonly IgnorePattern[];
  readonly #effort = new Effort();

  constructor(text: string) {
    const lines = this.#effort.patternsIn(text).split('\n');
    this.#patterns = lines.flatMap((line) => ignorePattern(line.trim()) ?? []);
  }

  match(path: string): boolean {
    const names = withParents(path).map(pathOf);
    this.#effort.compare(this.#patterns.length * names.length, path);
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
