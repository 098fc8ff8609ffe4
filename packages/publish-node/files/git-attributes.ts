import { join, relative } from 'node:path';
import { Effort } from './effort.ts';
import { gitFoldersOf, readRepository, workTreeOf } from './git-folders.ts';
import { type IgnorePattern, ignorePattern, pathOf, withParents } from './ignore-pattern.ts';
import { readRules } from './ignore-rules.ts';
import { statsOf } from './own-file.ts';

/*
 * Filters that keep files encrypted in git, such as git-crypt's. The files are readable in the folder, so
 * publishing the folder would reveal secrets that git does not.
 */
const encrypting = /^filter=.*(?:crypt|\bage\b|gpg|openssl|sops|vault|strongbox|secret)/i;

interface Rules {
  /** Relative to the work tree, '' or ending with a slash. */
  folder: string;
  patterns: readonly IgnorePattern[];
}

/** Whether git's attributes mark a file as encrypted. A later rule that reverses it doesn't count. */
export async function encryptedByGit(
  root: string,
  paths: readonly string[],
): Promise<(path: string) => boolean> {
  const top = workTreeOf(root);
  if (top === undefined) return () => false;
  const prefix = relative(top, root).replaceAll('\\', '/').replace(/.$/, '$&/');
  const above = ['', ...(prefix === '' ? [] : withParents(prefix))].map(
    (folder) => `${folder}.gitattributes`,
  );
  const own = paths.filter((path) => /(?:^|\/)\.gitattributes$/.test(path)).map((path) => prefix + path);
  const effort = new Effort();
  const macros = new Set<string>();
  const { common } = await gitFoldersOf(top);
  const shared = await readRepository(join(common, 'info/attributes'));
  const rules = [rulesIn('', shared?.toString() ?? '', macros, effort)];
  for (const path of new Set([...above, ...own])) {
    // Git doesn't follow links here.
    if (!statsOf(join(top, path))?.isFile()) continue;
    rules.push(rulesIn(path.slice(0, path.lastIndexOf('/') + 1), await readRules(top, path), macros, effort));
  }
  return (path) =>
    rules.some(({ folder, patterns }) => {
      const whole = prefix + path;
      if (patterns.length === 0 || !whole.startsWith(folder)) return false;
      const name = pathOf(whole.slice(folder.length), true);
      return patterns.some((pattern) => pattern.matches(name, effort));
    });
}

function rulesIn(folder: string, text: string, macros: Set<string>, effort: Effort): Rules {
  effort.spend('patternBytes', text.length);
  const lines = text.split('\n').map((line) => {
    const [, quoted, plain = '', attributes = ''] =
      /^[\uFEFF \t\r]*(?:"((?:\\.|[^"\\])*)"|([^ \t\r]+))[ \t\r]+(.*)$/s.exec(line) ?? [];
    return {
      name: quoted === undefined ? plain : unquoted(quoted),
      attributes: attributes.split(/[ \t\r]+/),
    };
  });
  const encrypts = (attributes: readonly string[]) =>
    attributes.some((attribute) => encrypting.test(attribute) || macros.has(attribute));
  // A macro may name a later one.
  for (const { name, attributes } of [...lines, ...lines.toReversed()])
    if (name.startsWith('[attr]') && encrypts(attributes)) macros.add(name.slice('[attr]'.length));
  const named = lines.filter(({ attributes }) => encrypts(attributes));
  effort.spend('patterns', named.length);
  // On some systems git ignores the case.
  return { folder, patterns: named.flatMap(({ name }) => ignorePattern(name, true) ?? []) };
}

/** As git prints a name: bytes that aren't ASCII are octal. */
function unquoted(text: string): string {
  const bytes = (octal: string) => Buffer.from(octal.match(/\d+/g)?.map((byte) => parseInt(byte, 8)) ?? []);
  return text.replaceAll(/(?:\\[0-7]{3})+/g, (octal) => bytes(octal).toString()).replaceAll(/\\(.)/g, '$1');
}
