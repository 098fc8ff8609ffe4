import { Failure } from '../failure.ts';
import { Effort } from './effort.ts';
import { type IgnorePattern, ignorePattern, ignorePatterns, pathOf, withParents } from './ignore-pattern.ts';
import { readOwnFile } from './own-file.ts';

interface Rules {
  /** Relative to the published folder, '' or ending with a slash. */
  folder: string;
  patterns: readonly IgnorePattern[];
}

/** Ignore files at any depth; the innermost match decides, and nothing returns to an excluded folder. */
export class IgnoreRules {
  readonly #rules: readonly Rules[];
  readonly #ignoresCase: boolean;
  readonly #effort: Effort;
  readonly #known = new Map<string, boolean>();

  constructor(rules: readonly Rules[] = [], ignoresCase = false, effort = new Effort()) {
    this.#rules = rules;
    this.#ignoresCase = ignoresCase;
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
    const patterns = ignorePatterns(counted(text, this.#effort), this.#ignoresCase);
    return new IgnoreRules([...this.#rules, { folder, patterns }], this.#ignoresCase, this.#effort);
  }

  /** A folder's path ends with a slash. */
  match(path: string): boolean {
    const names = withParents(path);
    this.#effort.spend('steps', (names.length * path.length) / 4);
    return names.some((name) => {
      const isIgnored = this.#known.get(name) ?? this.#ignores(name);
      this.#known.set(name, isIgnored);
      return isIgnored;
    });
  }

  #ignores(path: string): boolean {
    for (const { folder, patterns } of this.#rules.toReversed()) {
      if (!path.startsWith(folder) || path === folder) continue;
      const name = pathOf(path.slice(folder.length), this.#ignoresCase);
      const found = patterns.findLast(({ matches }) => matches(name, this.#effort));
      if (found) return !found.isNegated;
    }
    return false;
  }
}

function counted(text: string, effort: Effort): string {
  effort.spend('patterns', text.split('\n').length);
  effort.spend('patternBytes', text.length);
  return text;
}

/** The last matching rule decides, even in an excluded folder, as in Python's pathspec: packs rely on it. */
export class LastMatchRules {
  readonly #patterns: readonly IgnorePattern[];
  readonly #effort = new Effort();

  constructor(text: string) {
    const lines = counted(text, this.#effort).split('\n');
    this.#patterns = lines.flatMap((line) => ignorePattern(line.trim()) ?? []);
  }

  match(path: string): boolean {
    const names = withParents(path).map((name) => pathOf(name));
    this.#effort.spend('steps', names.length * path.length);
    const found = this.#patterns.findLast(({ matches }) => names.some((name) => matches(name, this.#effort)));
    return found !== undefined && !found.isNegated;
  }
}

/** An unreadable ignore file is an error: the files that it excludes must not be published. */
export async function readRules(root: string, path: string): Promise<string> {
  const file = await readOwnFile(root, path);
  if (file !== undefined) return file.content.toString();
  throw new Failure('usage', `${path} is not a file of the folder that can be read.`);
}
