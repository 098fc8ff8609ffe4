import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';

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

  /** These rules and those of one more file, which lies deeper. */
  async with(root: string, path: string): Promise<IgnoreRules> {
    const ignores = ignore({ ignorecase: false }).add(await readFile(join(root, path), 'utf8'));
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
