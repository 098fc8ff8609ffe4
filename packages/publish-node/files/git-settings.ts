import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { Effort } from './effort.ts';
import { type GitFolders, gitFoldersOf, readRepository, unreadable, workTreeOf } from './git-folders.ts';
import { ignorePattern, type IgnorePattern, pathOf, withParents } from './ignore-pattern.ts';
import { readOwnFile, statsOf } from './own-file.ts';
import { readRules } from './ignore-rules.ts';

/*
 * The few of git's settings that matter here. A repository's author controls its settings: never open a file that they name.
 */

interface Setting {
  /** For example `core.excludesfile`, or `remote.origin.url`. */
  key: string;
  value: string;
}

/** A comment, a section's name, or a setting with its value, perhaps quoted or continued. In linear time. */
const token =
  /[#;][^\n]*|\[(?:"(?:\\.|[^"\\\n])*"|[^"\]\n])*\]?|(?<![a-z0-9-])([a-z][a-z0-9-]*)[ \t]*=((?:\\\r?\n|\\.|"(?:\\\r?\n|\\.|[^"\\\n])*"|[^"\\\n#;])*)/gi;

function settingsIn(text: string): Setting[] {
  let section = '';
  return [...text.matchAll(token)].flatMap(([found, name = '', value = '']) => {
    if (found.startsWith('[')) section = sectionOf(found);
    if (name === '') return [];
    const plain = value.trim().replaceAll(/\\\r?\n|"|\\(.)/g, (_, sign = '') => escapes[sign] ?? sign);
    return [{ key: `${section}.${name.toLowerCase()}`, value: plain }];
  });
}

const escapes: Readonly<Record<string, string>> = { b: '\b', n: '\n', t: '\t' };

function sectionOf(header: string): string {
  const [, name = '', quoted] = /^\[[ \t]*([^\s"\]]*)[ \t]*(?:"(.*)")?/.exec(header) ?? [];
  return name.toLowerCase() + (quoted === undefined ? '' : `.${quoted.replaceAll(/\\(.)/g, '$1')}`);
}

/** The repository's own settings, without the files that they include. */
async function ownSettings({ own, common }: GitFolders): Promise<Setting[]> {
  const files = [join(common, 'config'), join(own, 'config.worktree')];
  const texts = await Promise.all(files.map((file) => readRepository(file)));
  return texts.flatMap((text) => settingsIn(text?.toString() ?? ''));
}

export async function ownSetting(folders: GitFolders, key: string): Promise<string | undefined> {
  return (await ownSettings(folders)).findLast((it) => it.key === key)?.value;
}

/** The places of submodules, which a copy without git still names. */
export async function namedSubmodules(root: string): Promise<string[]> {
  const file = await readOwnFile(root, '.gitmodules');
  const places = settingsIn(file?.content.toString() ?? '').filter(({ key }) =>
    /^submodule\..*\.path$/s.test(key),
  );
  return [...new Set(places.map(({ value }) => value.replace(/\/$/, '')))];
}

/** A file that the repository's own settings include. */
export async function ownInclude(folders: GitFolders): Promise<string | undefined> {
  const settings = await ownSettings(folders);
  return settings.find(({ key }) => /^include(?:if\..*)?\.path$/s.test(key))?.value;
}

/** A person's ignore rules for all repositories, and whether names that differ only in case are the same. */
export async function personalSettings(
  top: string,
  folders: GitFolders,
): Promise<{ excludes: string; ignoresCase: boolean }> {
  const home = process.env.HOME ?? homedir();
  const shared = join(process.env.XDG_CONFIG_HOME || join(home, '.config'), 'git');
  const {
    GIT_CONFIG_GLOBAL,
    GIT_CONFIG_SYSTEM,
    GIT_CONFIG_NOSYSTEM,
    PROGRAMFILES = 'C:/Program Files',
  } = process.env;
  const everywhere = ['/etc', '/usr/local/etc', '/opt/homebrew/etc', join(PROGRAMFILES, 'Git/etc')];
  const system = GIT_CONFIG_SYSTEM
    ? [GIT_CONFIG_SYSTEM]
    : everywhere.map((folder) => join(folder, 'gitconfig'));
  const files = [
    ...(GIT_CONFIG_NOSYSTEM ? [] : system),
    ...(GIT_CONFIG_GLOBAL ? [GIT_CONFIG_GLOBAL] : [join(shared, 'config'), join(home, '.gitconfig')]),
  ];
  const all = (await Promise.all(files.map((file) => settingsAt(file, { folders, home })))).flat();
  const last = (name: string) => all.findLast(({ key }) => key === name)?.value;
  const named = last('core.excludesfile') ?? join(shared, 'ignore');
  // An empty name means no file.
  const excludes = named === '' ? undefined : await readRepository(resolve(top, inHome(named, home)));
  return { excludes: excludes?.toString() ?? '', ignoresCase: isTrue(last('core.ignorecase') ?? '') };
}

export function isTrue(value: string): boolean {
  return /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
}

const maxDepth = 10;

interface Conditions {
  folders: GitFolders;
  home: string;
}

/** A person's settings, with those that they include in their place. */
async function settingsAt(file: string, conditions: Conditions, depth = 0): Promise<Setting[]> {
  if (depth > maxDepth) throw unreadable(`${file} includes itself`);
  const found: Setting[] = [];
  for (const setting of settingsIn((await readRepository(file))?.toString() ?? '')) {
    const { key, value } = setting;
    found.push(setting);
    if (key === 'include.path' || (key.endsWith('.path') && (await applies(key, file, conditions)))) {
      const included = resolve(dirname(file), inHome(value, conditions.home));
      for (const inner of await settingsAt(included, conditions, depth + 1)) found.push(inner);
    }
  }
  return found;
}

/** Whether an `includeIf` names this repository's folder. Those by branch or URL are skipped, as git skips unknown ones. */
async function applies(key: string, file: string, { folders, home }: Conditions): Promise<boolean> {
  const [, flag, condition] = /^includeif\.gitdir(\/i)?:(.+)\.path$/s.exec(key) ?? [];
  if (condition === undefined) return false;
  const ignoresCase = flag !== undefined;
  const absolute = condition.startsWith('./')
    ? join(dirname(file), condition.slice(2))
    : inHome(condition, home);
  const slashed = absolute.replaceAll('\\', '/');
  const rooted = /^(?:\/|[a-z]:)/i.test(slashed) ? slashed.replace(/^\//, '') : `**/${slashed}`;
  const pattern = ignorePattern(`/${rooted}${rooted.endsWith('/') ? '**' : ''}`, ignoresCase);
  return [folders.own, await realpath(folders.own)].some((place) => {
    const path = pathOf(place.replaceAll('\\', '/').replace(/^\//, ''), ignoresCase);
    return pattern?.matches(path, new Effort()) === true;
  });
}

function inHome(path: string, home: string): string {
  if (/^(?:~[^/]|%\()/.test(path))
    throw unreadable(`your settings name ${path}, and only git knows where that is`);
  return path.replace(/^~(?=\/|$)/, () => home);
}

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
      /^[\uFEFF \t\r]*(?:"((?:\\.|[^"\\])*)"|([^ \t\r\uFEFF][^ \t\r]*))[ \t\r]+(.*)$/s.exec(line) ?? [];
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
