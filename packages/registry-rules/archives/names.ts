import { ArchiveProblem, fileAndFolder, invisible, quote } from './archive-problem.ts';

const maxNameLength = 1000;
const maxFolderDepth = 64;
/** The limits of the file systems of Linux and macOS. */
const maxSegmentBytes = 255;

/** Windows gives these characters another meaning, cuts final dots and spaces, and opens devices by name. */
const notOnWindows = [
  /[<>:"|?*]/,
  /[. ](?:\/|$)/,
  /(?:^|\/)(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9\u00b9\u00b2\u00b3]) *(?:[./]|$)/i,
];

/**
 * Programs that read their configuration from a folder of this name, and run commands from it, when used in
 * the unpacked folder. A `.svn` has no such configuration. Windows also accepts the short names.
 */
const programs: Record<string, string> = { git: 'git', hg: 'Mercurial', bzr: 'Bazaar', jj: 'Jujutsu' };
const ofProgram = /(?:^|\/)(?:\.(git|hg|bzr|jj)|(git|hg|bzr|jj)~\d+)(?:\/|$)/i;

function badName(name: string, problem: string): ArchiveProblem {
  return new ArchiveProblem(`the name ${quote(name)} ${problem}`);
}

/** Rejects a name that leaves the target folder, that a system can't write, or that deceives a reader. */
export function checkName(name: string): void {
  if (name === '') throw new ArchiveProblem('it has a file without a name. Make the zip again.');
  if (name.length > maxNameLength) {
    throw badName(name, `has more than ${maxNameLength} characters. Shorten it.`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1F\x7F-\x9F\u2028\u2029\uFFFD]/.test(name)) {
    throw badName(name, 'has characters that are not text. Rename the file.');
  }
  if (invisible.test(name)) throw badName(name, 'has invisible characters. Rename the file.');
  if (name.includes('\\')) throw badName(name, 'has a backslash. Make the zip with "/" between folders.');
  if (/^(?:[A-Za-z]:)?\//.test(name)) {
    throw badName(name, 'is an absolute path. Zip the folder with relative paths.');
  }
  if (/^[A-Za-z]:/.test(name)) {
    throw badName(
      name,
      `begins with ${quote(name.slice(0, 2))}, which Windows takes for a drive. Rename it.`,
    );
  }
  const { 1: long, 2: short } = ofProgram.exec(withoutIgnorable(name)) ?? [];
  const program = programs[(long ?? short ?? '').toLowerCase()];
  if (program) {
    throw badName(name, `belongs to ${program}, which runs what such a folder configures. Leave it out.`);
  }
  checkSegments(name);
  checkEnding(name);
  if (notOnWindows.some((pattern) => pattern.test(name))) {
    throw badName(name, 'cannot be written on Windows. Rename it.');
  }
}

function checkSegments(name: string): void {
  const segments = withoutSlash(name).split('/');
  if (segments.includes('..')) {
    throw badName(name, 'leads out of the folder with "..". Zip from inside the folder.');
  }
  if (segments.includes('.') || segments.includes('')) {
    throw badName(name, 'is not a plain path. Make the zip without "." and "//" in names.');
  }
  if (segments.length - Number(!isFolderName(name)) > maxFolderDepth) {
    throw badName(name, `is nested in more than ${maxFolderDepth} folders. Use fewer.`);
  }
  const isTooLong = (segment: string) => Buffer.byteLength(segment) > maxSegmentBytes;
  if (name.length * 3 > maxSegmentBytes && segments.some(isTooLong)) {
    throw badName(name, `has a part longer than ${maxSegmentBytes} bytes. Shorten it.`);
  }
}

/** A version number as on VMS. unzip cuts it off, for archives from any system. */
function checkEnding(name: string): void {
  const [ending] = /;\d*(?=\/|$)/.exec(name) ?? [];
  if (ending !== undefined) {
    throw badName(name, `ends in ${quote(ending)}, which some programs cut off. Rename it.`);
  }
}

/**
 * Rejects names that become one file once unpacked. Systems that ignore case, or normalize accents, keep only one of
 * the two, and which one depends on the program. In sorted order such names are neighbors: nothing sorts between a file
 * and the contents of a folder of the same name.
 */
export function checkDistinct(names: readonly string[]): void {
  for (const { problem } of findClashes(names)) throw problem;
}

/** All clashes, each with one of its two names, for a publisher who can still rename the files. */
export function* findClashes(names: readonly string[]): Generator<{ name: string; problem: ArchiveProblem }> {
  const sorted = names
    .map((name) => ({ name, path: sortable(name) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  for (const [index, one] of sorted.entries()) {
    const next = sorted[index + 1];
    if (!next) return;
    const problem = clashOf(one, next);
    if (problem) yield { name: next.name, problem };
  }
}

interface Sortable {
  name: string;
  path: string;
}

/** Sorts before every character that a name may contain. */
const separator = '\0';

function sortable(name: string): string {
  return foldCase(name).replaceAll('/', separator);
}

/** One spelling for names that are the same on a system that ignores case. */
function foldCase(name: string): string {
  // Both directions: the Kelvin sign, the final sigma and the sharp s find their partner in only one.
  return name.normalize('NFC').toLowerCase().toUpperCase();
}

/** Removes the characters that some file systems ignore in comparisons. */
function withoutIgnorable(name: string): string {
  return name.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
}

function clashOf(one: Sortable, next: Sortable): ArchiveProblem | undefined {
  const ofFolders = folderClash(one, next);
  if (ofFolders) return ofFolders;
  if (next.path === one.path) return meeting(one.name, next.name);
  const isInside = !isFolderName(one.name) && next.path.startsWith(one.path + separator);
  return isInside ? fileAndFolder(one.name) : undefined;
}

const ignoring = 'on systems that ignore case and how accents are encoded. Rename one.';

/** Folders that differ only in case are two on Linux, and one elsewhere. */
function folderClash(one: Sortable, next: Sortable): ArchiveProblem | undefined {
  const shared = sharedFolders(one.path, next.path);
  const folder = one.name.split('/', shared).join('/');
  const other = next.name.split('/', shared).join('/');
  if (folder === other) return undefined;
  return new ArchiveProblem(`the folders ${quote(folder)} and ${quote(other)} are one folder ${ignoring}`);
}

function sharedFolders(path: string, other: string): number {
  let folders = 0;
  for (let at = 0; at < path.length && path[at] === other[at]; at += 1) {
    if (path[at] === separator) folders += 1;
  }
  return folders;
}

function meeting(name: string, other: string): ArchiveProblem {
  if (name === other) return new ArchiveProblem(`it has two files named ${quote(name)}. Keep one.`);
  return new ArchiveProblem(`${quote(name)} and ${quote(other)} are one file ${ignoring}`);
}

export function isFolderName(name: string): boolean {
  return name.endsWith('/');
}

function withoutSlash(name: string): string {
  return isFolderName(name) ? name.slice(0, -1) : name;
}

/** The names that make a folder a repository. Some systems accept a file instead of a folder. */
const ofRepository = /(?<![^/])(?:HEAD|OBJECTS|REFS|COMMONDIR)(?![^/])/g;

interface FoundFolder {
  folder: string;
  parts: Set<string>;
}

/** Rejects an archive with a folder that git treats as a repository although it isn't named `.git`. */
export function rejectGitFolders(names: readonly string[]): void {
  for (const { problem } of findGitFolders(names)) throw problem;
}

/**
 * Finds these folders. In such a folder or below it, git runs the programs that its configuration names. The file
 * `commondir` contains the path of the folder with the rest of the repository.
 */
export function* findGitFolders(
  names: readonly string[],
): Generator<{ folder: string; problem: ArchiveProblem }> {
  const folders = new Map<string, FoundFolder>();
  for (const name of names) {
    const folded = foldCase(withoutIgnorable(name));
    for (const { 0: part, index } of folded.matchAll(ofRepository)) {
      const key = folded.slice(0, index);
      const found = folders.get(key) ?? { folder: firstFolders(name, key), parts: new Set() };
      folders.set(key, found);
      found.parts.add(part);
    }
  }
  for (const { folder, parts } of folders.values()) {
    const isRepository =
      parts.has('HEAD') && (parts.has('COMMONDIR') || (parts.has('OBJECTS') && parts.has('REFS')));
    if (isRepository) yield { folder: folder === '' ? '.' : folder, problem: repositoryProblem(folder) };
  }
}

/** Folding can change the length of a name, but not the number of its folders. */
function firstFolders(name: string, folded: string): string {
  const depth = folded.split('/').length - 1;
  return name.split('/', depth).join('/');
}

function repositoryProblem(folder: string): ArchiveProblem {
  const which = folder === '' ? 'its top folder' : `the folder ${quote(folder)}`;
  return new ArchiveProblem(
    `git takes ${which} for a repository, by the names in it (HEAD, objects and refs, or commondir), and runs what such a folder configures. Leave it out, or zip it as a file.`,
  );
}
