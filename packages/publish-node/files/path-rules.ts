import type { Problem } from '../failure.ts';
import { limits } from './limits.ts';

const maxLength = 1000;
const maxDepth = 64;
/** What the file systems of Linux and macOS take. */
const maxSegmentBytes = 255;
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i;
const notOnWindows = /[<>:"|?*]/;
/** Without the variation selectors, which emoji need; with annotation marks and the empty braille pattern. */
const invisible = /[[\p{Default_Ignorable_Code_Point}--[\uFE00-\uFE0F]]\uFFF9-\uFFFB\u2800]/v;

/** The paths that the registry would refuse after the upload, or that some system could not unpack. */
export function pathProblems(paths: readonly string[]): Problem[] {
  const problems = paths.flatMap((path) => {
    const message = problemOf(path);
    return message === undefined ? [] : [{ path: printable(path), message }];
  });
  return [...problems, ...clashes(paths), ...countProblems(paths.length)];
}

function problemOf(path: string): string | undefined {
  const segments = path.split('/');
  if (path.length > maxLength) return `has more than ${maxLength} characters. Shorten it.`;
  if (segments.some((segment) => Buffer.byteLength(segment) > maxSegmentBytes)) {
    return `has a part longer than ${maxSegmentBytes} bytes. Shorten it.`;
  }
  if (segments.length - 1 > maxDepth) return `lies more than ${maxDepth} folders deep. Move it up.`;
  if (/[\p{Cc}\u2028\u2029\uFFFD]/u.test(path)) return 'has characters that are not text. Rename it.';
  if (invisible.test(path)) return 'has characters that cannot be seen. Rename it.';
  if (path.includes('\\')) return 'has a backslash. Rename it.';
  if (notOnWindows.test(path)) return 'has one of < > : " | ? *, which Windows cannot write. Rename it.';
  if (segments.some((segment) => segment.toLowerCase() === '.git')) return 'belongs to git. Leave it out.';
  if (path === '__proto__') return 'has a name that cannot be packed. Rename it.';
  if (segments.some((segment) => /[. ]$/.test(segment))) {
    return 'ends with a dot or a space, which Windows drops. Rename it.';
  }
  if (segments.some((segment) => /;\d*$/.test(segment))) {
    return 'ends in what unzip takes for the number of a version, and cuts off. Rename it.';
  }
  const reserved = segments.find((segment) => device.test(segment));
  return reserved === undefined ? undefined : `has the name of a Windows device, "${reserved}". Rename it.`;
}

/** Two paths that meet in one file on systems that ignore case, or spell accents their own way. */
function clashes(paths: readonly string[]): Problem[] {
  const files = new Map<string, string>();
  const problems: Problem[] = [];
  for (const path of paths) {
    const other = files.get(folded(path));
    if (other !== undefined) {
      problems.push({ path, message: `is one file with ${other} on systems that ignore case. Rename one.` });
    }
    files.set(folded(path), path);
  }
  const folders = new Map<string, string>();
  for (const folder of new Set(paths.flatMap(foldersOf))) {
    const other = folders.get(folded(folder));
    if (other === undefined) folders.set(folded(folder), folder);
    else problems.push(oneFolder(folder, other));
  }
  for (const [name, path] of files) {
    if (folders.has(name)) problems.push({ path, message: 'is both a file and a folder. Rename one.' });
  }
  return problems;
}

function oneFolder(path: string, other: string): Problem {
  return { path, message: `is one folder with ${other} on systems that ignore case. Rename one.` };
}

function countProblems(count: number): Problem[] {
  if (count <= limits.entries) return [];
  return [
    { path: `${count} files`, message: `are too many: ${limits.entries} are allowed. Leave some out.` },
  ];
}

function folded(path: string): string {
  // Both ways, for letters of which only one way finds the partner, such as the sharp s.
  return path.normalize('NFC').toLowerCase().toUpperCase();
}

function foldersOf(path: string): string[] {
  const segments = path.split('/');
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'));
}

function printable(path: string): string {
  return path.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}
