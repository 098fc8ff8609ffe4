import { Failure } from '../failure.ts';
import { Effort } from './effort.ts';
import { type IgnorePattern, ignorePattern, ignorePatterns, pathOf, withParents } from './ignore-pattern.ts';
import { readOwnFile } from './own-file.ts';

interface Rules {
  /** Relative to the published folder, '' or ending with a slash. */
  folder: string;
  /** For a person: the file of the patterns, or what they are. */
  source: string;
  patterns: readonly IgnorePattern[];
}

/** A file or folder that a rule leaves out, and the rule in words. */
export interface Exclusion {
  path: string;
  rule: string;
}

/** A source of patterns without a file. */
export const leftovers = 'as a leftover of tools';
const maxShown = 60;

function ruleOf({ line }: IgnorePattern, source: string): string {
  return source === leftovers ? source : `by "${line.slice(0, maxShown)}" in ${source}`;
}

/** Ignore files at any depth; the innermost match decides, and nothing returns to an excluded folder. */
export class IgnoreRules {
  readonly #rules: readonly Rules[];
  readonly #ignoresCase: boolean;
  readonly #effort: Effort;
  readonly #known = new Map<string, string | undefined>();

  constructor(rules: readonly Rules[] = [], ignoresCase = false, effort = new Effort()) {
    this.#rules = rules;
    this.#ignoresCase = ignoresCase;
    this.#effort = effort;
  }

  /** These rules and patterns for the whole folder. */
  and(lines: readonly string[], source: string): IgnoreRules {
    return this.#and('', lines.join('\n'), source);
  }

  /** These rules and those of a deeper file. */
  async with(root: string, path: string): Promise<IgnoreRules> {
    return this.#and(path.slice(0, path.lastIndexOf('/') + 1), await readRules(root, path), path);
  }

  #and(folder: string, text: string, source: string): IgnoreRules {
    const patterns = ignorePatterns(counted(text, this.#effort), this.#ignoresCase);
    return new IgnoreRules([...this.#rules, { folder, source, patterns }], this.#ignoresCase, this.#effort);
  }

  /** A folder's path ends with a slash. */
  match(path: string): boolean {
    return this.find(path) !== undefined;
  }

  /** The path itself, or the folder in which it is left out. */
  find(path: string): Exclusion | undefined {
    const names = withParents(path);
    this.#effort.spend('steps', (names.length * path.length) / 4);
    for (const name of names) {
      const rule = this.#known.has(name) ? this.#known.get(name) : this.#ruleFor(name);
      this.#known.set(name, rule);
      if (rule !== undefined) return { path: name, rule };
    }
    return undefined;
  }

  #ruleFor(path: string): string | undefined {
    for (const { folder, source, patterns } of this.#rules.toReversed()) {
      if (!path.startsWith(folder) || path === folder) continue;
      const name = pathOf(path.slice(folder.length), this.#ignoresCase);
      const found = patterns.findLast(({ matches }) => matches(name, this.#effort));
      if (found) return found.isNegated ? undefined : ruleOf(found, source);
    }
    return undefined;
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
  readonly #source: string;

  constructor(text: string, source: string) {
    this.#source = source;
    const lines = counted(text, this.#effort).split('\n');
    this.#patterns = lines.flatMap((line) => ignorePattern(line.trim()) ?? []);
  }

  find(path: string): Exclusion | undefined {
    const names = withParents(path).map((name) => pathOf(name));
    this.#effort.spend('steps', names.length * path.length);
    const found = this.#patterns.findLast(({ matches }) => names.some((name) => matches(name, this.#effort)));
    return found === undefined || found.isNegated ? undefined : { path, rule: ruleOf(found, this.#source) };
  }
}

/** An unreadable ignore file is an error: the files that it excludes must not be published. */
export async function readRules(root: string, path: string): Promise<string> {
  const file = await readOwnFile(root, path);
  if (file !== undefined) return file.content.toString();
  throw new Failure('usage', `${path} is not a file of the folder that can be read.`);
}
