import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readRepository, unreadable, type GitFolders } from './git-folders.ts';
import { ignorePattern, pathOf } from './ignore-pattern.ts';

/*
 * The few values that are read of git's settings. Those of a repository are its author's: no file that they name is opened.
 */

interface Setting {
  /** Such as `core.excludesfile`, or `remote.origin.url`. */
  key: string;
  value: string;
}

/** A comment, a section's name, or a setting with its value as git reads one: quoted in parts, and continued on lines. In linear time. */
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

/** A value of the repository's own settings, without the files that they include. */
export async function ownSetting({ own, common }: GitFolders, key: string): Promise<string | undefined> {
  const files = [join(common, 'config'), join(own, 'config.worktree')];
  const texts = await Promise.all(files.map((file) => readRepository(file)));
  return texts.flatMap((text) => settingsIn(text?.toString() ?? '')).findLast((it) => it.key === key)?.value;
}

/** What a person ignores in all repositories. */
export async function globalExcludes(top: string, { own }: GitFolders): Promise<string> {
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
  let named = join(shared, 'ignore');
  for (const file of files) named = (await excludesNamedBy(file, own, home)) ?? named;
  return (await readRepository(resolve(top, named)))?.toString() ?? '';
}

const maxDepth = 10;

/** The last `core.excludesFile` of a person's settings and of those that they include. */
async function excludesNamedBy(
  file: string,
  own: string,
  home: string,
  depth = 0,
): Promise<string | undefined> {
  if (depth > maxDepth) throw unreadable(`${file} includes itself`);
  let found: string | undefined;
  for (const { key, value } of settingsIn((await readRepository(file))?.toString() ?? '')) {
    if (key === 'core.excludesfile') found = inHome(value, home);
    else if (key === 'include.path' || (key.endsWith('.path') && appliesTo(own, key, file, home))) {
      const included = resolve(dirname(file), inHome(value, home));
      found = (await excludesNamedBy(included, own, home, depth + 1)) ?? found;
    }
  }
  return found;
}

/** Whether an `includeIf` of a folder names the one of this repository. Other conditions are about what git does later. */
function appliesTo(own: string, key: string, file: string, home: string): boolean {
  const [, ignoresCase, condition = ''] = /^includeif\.gitdir(\/i)?:(.*)\.path$/s.exec(key) ?? [];
  if (condition === '') return false;
  const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text).replaceAll('\\', '/');
  const absolute = condition.startsWith('./')
    ? join(dirname(file), condition.slice(2))
    : inHome(condition, home);
  const rooted = /^(?:\/|[a-z]:)/i.test(absolute)
    ? `/${fold(absolute).replace(/^\//, '')}`
    : `/**/${fold(absolute)}`;
  const pattern = ignorePattern(rooted.endsWith('/') ? `${rooted}**` : rooted);
  return pattern?.matches(pathOf(fold(own).replace(/^\//, ''))) ?? false;
}

function inHome(path: string, home: string): string {
  if (/^(?:~[^/]|%\()/.test(path))
    throw unreadable(`your settings name ${path}, and only git knows where that is`);
  return path.replace(/^~(?=\/|$)/, () => home);
}
