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

  /** These rules and those of one more file, which lies deeper. */
  async with(root: string, path: string): Promise<IgnoreRules> {
    const file = await readOwnFile(root, path);
    // What it would leave out must not be published because it cannot be read.
    if (file === undefined)
      throw new Failure('usage', `${path} is not a file of the folder that can be read.`);
    const ignores = ignore({ ignorecase: false }).add(file.content.toString());
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
