import { join, relative } from 'node:path';
import { Effort } from './effort.ts';
import { gitFoldersOf, readRepository, workTreeOf } from './git-folders.ts';
import { type IgnorePattern, ignorePattern, pathOf, withParents } from './ignore-pattern.ts';
import { readOwnFile } from './own-file.ts';

/*
 * Filters that keep files encrypted in git, such as git-crypt's. The folder has them readable, so what git ships to
 * everyone and what the folder holds differ by a secret.
 */
const encrypting = /^filter=.*(?:crypt|\bage\b|gpg|openssl|sops|vault|strongbox|secret)/i;

interface Rule {
  /** Relative to the work tree, '' or ending with a slash. */
  folder: string;
  pattern: IgnorePattern;
}

/** Whether git's attributes name a file of the folder as encrypted. A later rule that says otherwise does not count. */
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
  const rules = shared === undefined ? [] : rulesIn('', shared.toString(), macros, effort);
  for (const path of new Set([...above, ...own])) {
    const text = (await readOwnFile(top, path).catch(() => undefined))?.content.toString() ?? '';
    rules.push(...rulesIn(path.slice(0, path.lastIndexOf('/') + 1), text, macros, effort));
  }
  return (path) =>
    rules.some(({ folder, pattern }) => {
      const whole = prefix + path;
      return whole.startsWith(folder) && pattern.matches(pathOf(whole.slice(folder.length)), effort);
    });
}

function rulesIn(folder: string, text: string, macros: Set<string>, effort: Effort): Rule[] {
  effort.spend('patternBytes', text.length);
  const lines = text.split('\n').map((line) => {
    const [, quoted, plain = '', attributes = ''] =
      /^\s*(?:"((?:\\.|[^"\\])*)"|(\S+))\s+(.*)$/.exec(line) ?? [];
    return { name: quoted?.replaceAll(/\\(.)/g, '$1') ?? plain, attributes: attributes.trim().split(/\s+/) };
  });
  const encrypts = (attributes: readonly string[]) =>
    attributes.some((attribute) => encrypting.test(attribute) || macros.has(attribute));
  for (const { name, attributes } of lines)
    if (name.startsWith('[attr]') && encrypts(attributes)) macros.add(name.slice('[attr]'.length));
  const named = lines.filter(({ attributes }) => encrypts(attributes));
  effort.spend('patterns', named.length);
  return named.flatMap(({ name }) => {
    const pattern = ignorePattern(name);
    return pattern === undefined ? [] : [{ folder, pattern }];
  });
}
