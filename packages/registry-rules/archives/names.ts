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
 * Finds names that become one file once unpacked, each with the later of its two. Systems that ignore case, or
 * normalize accents, keep only one of the two, and which one depends on the program. Folders that differ only
 * in case are two on Linux, and one elsewhere.
 */
export function* findClashes(names: readonly string[]): Generator<{ name: string; problem: ArchiveProblem }> {
  const listed = new Set<string>();
  /** By its folded path, how a file or folder was last written; a folder ends with a slash. */
  const written = new Map<string, string>();
  for (const name of names) {
    const isRepeated = listed.has(name);
    const problem = isRepeated ? twice(name) : clashOf(name, written);
    if (problem) yield { name, problem };
    listed.add(name);
  }
}

function clashOf(name: string, written: Map<string, string>): ArchiveProblem | undefined {
  const folded = foldCase(name);
  let problem: ArchiveProblem | undefined;
  for (let [at, end] = [0, 0]; end < name.length; ) {
    [at, end] = [afterSlash(folded, at), afterSlash(name, end)];
    const [key, path] = [withoutSlash(folded.slice(0, at)), name.slice(0, end)];
    const other = written.get(key);
    written.set(key, path);
    if (other !== undefined && other !== path) problem ??= meeting(other, path);
  }
  return problem;
}

/** Where the next part of a path begins: after a slash, or at the end. */
function afterSlash(path: string, from: number): number {
  return path.indexOf('/', from) + 1 || path.length;
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

const ignoring = 'on systems that ignore case and how accents are encoded. Rename one.';

function meeting(one: string, other: string): ArchiveProblem {
  const [isFolder, isOtherFolder] = [isFolderName(one), isFolderName(other)];
  if (isFolder !== isOtherFolder) return fileAndFolder(isFolder ? other : one);
  const both = `${quote(withoutSlash(one))} and ${quote(withoutSlash(other))}`;
  return new ArchiveProblem(
    isFolder ? `the folders ${both} are one folder ${ignoring}` : `${both} are one file ${ignoring}`,
  );
}

function twice(name: string): ArchiveProblem {
  return new ArchiveProblem(`it has two files named ${quote(name)}. Keep one.`);
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

/**
 * Finds folders that git treats as a repository although they aren't named `.git`. In one or below it, git runs the programs that its configuration names. The file
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
