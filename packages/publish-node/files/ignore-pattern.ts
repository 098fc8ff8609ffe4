import type { Effort } from './effort.ts';

/*
 * One line of an ignore file, as git reads it. Its author may be an attacker, so a star backtracks only to
 * the last star before it, and each step is counted.
 */

/** Matches any number of items. */
const gap = '*';
type Test = (byte: string) => boolean;
type Token = Test | typeof gap;
type Segment = readonly Token[];

export interface IgnorePattern {
  /** As its author wrote it. */
  line: string;
  isNegated: boolean;
  /** Whether it matches the path itself. Its parents aren't considered. */
  matches: (path: Path, effort: Effort) => boolean;
}

/** A path relative to the file's folder, in the form that patterns compare. */
interface Path {
  bytes: string;
  segments: readonly string[];
  isFolder: boolean;
}

/** A folder's path ends with a slash. */
export function pathOf(path: string, ignoresCase = false): Path {
  const named = bytesOf(path.endsWith('/') ? path.slice(0, -1) : path);
  const bytes = ignoresCase ? lower(named) : named;
  return { bytes, segments: bytes.split('/'), isFolder: path.endsWith('/') };
}

export function ignorePatterns(text: string, ignoresCase: boolean): IgnorePattern[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  return lines.flatMap((line) => ignorePattern(line.replace(/\r$/, ''), ignoresCase) ?? []);
}

/** Git ignores the case of ASCII letters only. */
export function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Undefined for a comment, and for a line that never matches in git. */
export function ignorePattern(line: string, ignoresCase = false): IgnorePattern | undefined {
  if (line.startsWith('#')) return undefined;
  const trimmed = withoutTrailingSpaces(line);
  const isNegated = trimmed.startsWith('!');
  const named = isNegated ? trimmed.slice(1) : trimmed;
  const isForFolders = named.endsWith('/');
  // Like git, `?` and a set match one byte, even of a longer character.
  const text = bytesOf(isForFolders ? named.slice(0, -1) : named);
  // Git compares the beginning without wildcards literally. So `ab**/c` has any depth after `ab`.
  const [plain = ''] = text.includes('/') ? (/^\/?([^*?[\\]*)/.exec(text)?.slice(1) ?? []) : [];
  const beginning = ignoresCase ? lower(plain) : plain;
  const found = tokensOf(text.replace(/^\//, '').slice(beginning.length), ignoresCase);
  if (found === undefined) return undefined;
  const segments = found.map((tokens) => (isAnyDepth(tokens) ? gap : tokens));
  const rooted: (Segment | typeof gap)[] = text.includes('/') ? segments : [gap, ...segments];
  // At the end, it matches the content of the folder, and not the folder itself.
  if (rooted.at(-1) === gap) rooted.push([gap]);
  return {
    line: trimmed,
    isNegated,
    matches: ({ bytes, segments: names, isFolder }, effort) => {
      if ((isForFolders && !isFolder) || !bytes.startsWith(beginning)) return false;
      const rest = beginning === '' ? names : bytes.slice(beginning.length).split('/');
      return matchesAll(rooted, rest, effort, matchesSegment);
    },
  };
}

/** The folders of a path, each ending with a slash, and the path itself. */
export function withParents(path: string): string[] {
  return [...path.matchAll(/\/(?=.)/gs)].map(({ index }) => path.slice(0, index + 1)).concat(path);
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** An escaped space stays. */
function withoutTrailingSpaces(line: string): string {
  const trimmed = line.replace(/(?<! ) +$/, '');
  const [backslashes = ''] = /(?<!\\)\\*$/.exec(trimmed) ?? [];
  return trimmed !== line && backslashes.length % 2 === 1 ? `${trimmed} ` : trimmed;
}

function isAnyDepth(tokens: Segment): boolean {
  return tokens.length > 1 && tokens.every((token) => token === gap);
}

function matchesSegment(segment: Segment, name: string, effort: Effort): boolean {
  return matchesAll<Test, string>(segment, name, effort, (test, byte) => test(byte));
}

/** Whether each item of the pattern matches one item of the text, and each gap any number. */
function matchesAll<Item, Taken>(
  pattern: readonly (Item | typeof gap)[],
  text: ArrayLike<Taken>,
  effort: Effort,
  takes: (item: Item, taken: Taken, effort: Effort) => boolean,
): boolean {
  let steps = 1;
  let at = 0;
  let resumeAt: number | undefined;
  let resumeIndex = 0;
  let index = 0;
  for (; index < text.length; steps += 1) {
    const item = pattern[at];
    if (item === gap) {
      at += 1;
      resumeAt = at;
      resumeIndex = index;
    } else if (item !== undefined && takes(item as Item, text[index] as Taken, effort)) {
      at += 1;
      index += 1;
    } else if (resumeAt !== undefined) {
      at = resumeAt;
      resumeIndex += 1;
      index = resumeIndex;
    } else break;
  }
  for (; index === text.length && pattern[at] === gap; at += 1) steps += 1;
  effort.spend('steps', steps);
  return index === text.length && at === pattern.length;
}

function tokensOf(text: string, ignoresCase: boolean): Token[][] | undefined {
  const segments: Token[][] = [[]];
  for (let at = 0; at < text.length; at += 1) {
    const tokens = segments.at(-1) ?? [];
    if (text[at] === '[') {
      const set = setAt(text, at, ignoresCase);
      if (set === undefined) return undefined;
      tokens.push(set.has);
      at = set.end;
      continue;
    }
    const isEscaped = text[at] === '\\';
    if (isEscaped) at += 1;
    const written = text[at];
    if (written === undefined) return undefined;
    // Git keeps the case of an escaped capital letter, so nothing equals it.
    const byte = ignoresCase && !isEscaped ? lower(written) : written;
    // Before an escaped slash, two stars match at least one folder.
    if (byte === '/' && isEscaped && isAnyDepth(tokens)) segments.push([gap]);
    if (byte === '/') segments.push([]);
    else if (isEscaped || !'*?'.includes(byte)) tokens.push((other) => other === byte);
    else tokens.push(byte === '*' ? gap : () => true);
  }
  return segments;
}

const named: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    alnum: /[A-Za-z0-9]/,
    alpha: /[A-Za-z]/,
    blank: /[ \t]/,
    cntrl: /[^ -~\x80-\xFF]/,
    digit: /\d/,
    graph: /[!-~]/,
    lower: /[a-z]/,
    print: /[ -~]/,
    punct: /[!-/:-@[-`{-~]/,
    space: /[\t-\r ]/,
    upper: /[A-Z]/,
    xdigit: /[0-9A-Fa-f]/,
  }),
);

/** Names without case have no capitals, so git compares them literally, except with ranges and classes. */
function setAt(text: string, start: number, ignoresCase: boolean) {
  const member = /(\\.|[^\\])(?:-(?!\])(\\.|[^\\]))?/sy;
  const either = (is: Test): Test => (ignoresCase ? (byte) => is(byte) || is(byte.toUpperCase()) : is);
  const isNegated = text[start + 1] === '!' || text[start + 1] === '^';
  member.lastIndex = start + (isNegated ? 2 : 1);
  const members: Test[] = [];
  let bracket = 0;
  // The first member may be the closing bracket.
  do {
    const at = member.lastIndex;
    // Kept between classes, so that a text is searched only once.
    if (text.startsWith('[:', at) && bracket < at + 2) bracket = text.indexOf(']', at + 2);
    if (bracket < 0) return undefined;
    if (text.startsWith('[:', at) && bracket > at + 2 && text[bracket - 1] === ':') {
      const kind = named.get(text.slice(at + 2, bracket - 1));
      if (kind === undefined) return undefined;
      members.push(either((byte) => kind.test(byte)));
      member.lastIndex = bracket + 1;
      continue;
    }
    const [found, first = '', last] = member.exec(text) ?? [];
    if (found === undefined) return undefined;
    const [from = '', to = ''] = [first.at(-1), last?.at(-1)];
    // A range's first byte counts even if the range is empty.
    members.push((byte) => byte === from);
    if (last !== undefined) members.push(either((byte) => byte >= from && byte <= to));
  } while (text[member.lastIndex] !== ']');
  return { end: member.lastIndex, has: (byte: string) => members.some((is) => is(byte)) !== isNegated };
}
