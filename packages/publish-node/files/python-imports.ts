import { posix } from 'node:path';
import type { Problem } from '../failure.ts';
import type { LeftOut } from './left-out.ts';
import type { OwnFile } from './own-file.ts';

/*
 * Imports of the folder's own files that are not published. The files are read without a parser, which would
 * be larger than the rest of the command: strings and comments are blanked out, and lines compared.
 */

interface Import {
  line: number;
  /** With a dot for each level of a relative one. */
  module: string;
  names: readonly string[];
  /** The file expects that it may fail. */
  isGuarded: boolean;
}

export interface ImportProblem extends Problem {
  isGuarded: boolean;
}

const maxBytes = 1_000_000;
const inert =
  /"""(?:\\.|[^\\])*?(?:"""|$)|'''(?:\\.|[^\\])*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|#[^\n]*|\\\r?\n/gs;
const statement = /[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^()]*\)|[^\n;]*)|import[ \t]+([^\n;]+))/y;
const guard = /^\s*(?:try|except)\b|TYPE_CHECKING|__name__|\bsuppress\(/;

function importsIn(text: string): Import[] {
  const code = text.replaceAll(inert, (found) => found.replaceAll(/[^\n]/g, ' ').replace(/^ +\n$/, '  '));
  const found: Import[] = [];
  const blocks: { indent: number; isGuarded: boolean }[] = [];
  let line = 0;
  let start = 0;
  for (const source of code.split('\n')) {
    line += 1;
    const indent = source.search(/\S/);
    if (indent >= 0) {
      while ((blocks.at(-1)?.indent ?? -1) >= indent) blocks.pop();
      const isGuarded = blocks.at(-1)?.isGuarded === true;
      statement.lastIndex = start;
      const [, module, names = '', modules] = statement.exec(code) ?? [];
      const add = (name: string, list: readonly string[]) =>
        found.push({ line, module: name, names: list, isGuarded });
      if (module !== undefined) add(module, wordsOf(names));
      for (const name of wordsOf(modules ?? '')) add(name, []);
      blocks.push({ indent, isGuarded: isGuarded || guard.test(source) });
    }
    start += source.length + 1;
  }
  return found;
}

/** The first word of each item: `a as b, c` names a and c. */
function wordsOf(list: string): string[] {
  return list.split(',').flatMap((item) => /[\w.]+/.exec(item)?.[0] ?? []);
}

const isCode = (path: string) => /\.(?:pyw?|pyc|pyd|so)$/.test(path);

/** What Python can import: modules without their endings, and folders with one, each with the first file's value. */
function modulesIn<Value>(files: Iterable<readonly [path: string, value: Value]>): Map<string, Value> {
  const modules = new Map<string, Value>();
  for (const [path, value] of files) {
    if (!isCode(path)) continue;
    let name = posix.join(posix.dirname(path), posix.basename(path).split('.', 1)[0] ?? '');
    for (; name !== '.' && !modules.has(name); name = posix.dirname(name)) modules.set(name, value);
  }
  return modules;
}

/** The imports of published files that only lead to files which are left out. */
export function importsOfLeftOut(
  contents: ReadonlyMap<string, OwnFile>,
  leftOut: readonly LeftOut[],
): ImportProblem[] {
  const gone = modulesIn(leftOut.flatMap(({ files, rule }) => files.map((file) => [file, rule] as const)));
  if (gone.size === 0) return [];
  const there = modulesIn(contents);
  const isGone = (path: string) => gone.has(path) && (!there.has(path) || gone.has(`${path}/__init__`));
  return [...contents].flatMap(([path, { content }]) => {
    if (!path.endsWith('.py') || content.length > maxBytes) return [];
    const text = content.toString();
    return importsIn(text).flatMap(({ line, module, names, isGuarded }) => {
      const target = targetsOf(path, module, names, text).find(isGone);
      if (target === undefined) return [];
      const message = `imports ${target} (line ${line}), which is left out ${gone.get(target)}.`;
      return [{ path, message, isGuarded }];
    });
  });
}

/** The files that an import may mean. An absolute one means the folder's own only if the file says so. */
function targetsOf(path: string, module: string, names: readonly string[], text: string): string[] {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(module) ?? [];
  const parts = rest.replaceAll('.', '/');
  const folder = posix.dirname(path);
  if (dots === '' && !text.includes('sys.path')) return [];
  const up = '../'.repeat(Math.max(0, dots.length - 1));
  const bases = dots === '' ? ['.', folder] : [posix.join(folder, up)];
  return bases.flatMap((base) => {
    const found = posix.join(base, parts);
    return [...(parts === '' ? [] : [found]), ...names.map((name) => posix.join(found, name))];
  });
}
