import ignore, { type Ignore } from 'ignore';
import { Failure } from '../failure.ts';
import { readOwnFile } from './own-file.ts';

interface Rules {
  /** Relative to the folder that is published, '' or ending with a slash. */
  folder: string;
  ignores: Ignore;
}

/** Ignore files at any depth; the innermost one that has an opinion decides. */
export class IgnoreRules {
  readonly #rules: readonly Rules[];

  constructor(rules: readonly Rules[] = []) {
    this.#rules = rules;
  }

  /** These rules and patterns for the whole folder. */
  and(patterns: readonly string[]): IgnoreRules {
    const ignores = ignore({ ignorecase: false }).add(patterns);
    return new IgnoreRules([...this.#rules, { folder: '', ignores }]);
  }

  /** These rules and those of a deeper file. */
  async with(root: string, path: string): Promise<IgnoreRules> {
    const ignores = ignore({ ignorecase: false }).add(await readRules(root, path));
    return new IgnoreRules([...this.#rules, { folder: path.slice(0, path.lastIndexOf('/') + 1), ignores }]);
  }

  /** A folder's path ends with a slash. */
  match(path: string): boolean {
    let isIgnored = false;
    for (const { folder, ignores } of this.#rules) {
      if (!path.startsWith(folder) || path === folder) continue;
      const { ignored, unignored } = ignores.test(path.slice(folder.length));
      if (ignored) isIgnored = true;
      if (unignored) isIgnored = false;
    }
    return isIgnored;
  }
}

/** Rules of which the last match decides, even in an excluded folder: Python's pathspec reads them so, and packs rely on it. */
export class LastMatchRules {
  readonly #rules: readonly { isIgnored: boolean; pattern: Ignore }[];

  constructor(text: string) {
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    this.#rules = lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => ({
        isIgnored: !line.startsWith('!'),
        pattern: ignore({ ignorecase: false }).add(line.replace(/^!/, '')),
      }));
  }

  match(path: string): boolean {
    return this.#rules.findLast(({ pattern }) => pattern.ignores(path))?.isIgnored ?? false;
  }
}

/** An ignore file that cannot be read fails: what it would leave out must not be published. */
export async function readRules(root: string, path: string): Promise<string> {
  const file = await readOwnFile(root, path);
  if (file !== undefined) return file.content.toString();
  throw new Failure('usage', `${path} is not a file of the folder that can be read.`);
}
