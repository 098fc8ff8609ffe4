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
 *
 * Sorted as these systems compare them, such names are neighbors, a file before the content of a folder: a table of all
 * folders that 10,000 names can have takes hundreds of megabytes.
 */
export function findClashes(names: readonly string[]): { name: string; problem: ArchiveProblem }[] {
  const sorted = names
    // `replaceAll` would keep each name as a tree of its pieces.
    .map((name, place) => ({ name, place, folded: foldCase(name).split('/').join('\0') }))
    .sort((a, b) => order(a.folded, b.folded) || order(a.name, b.name) || a.place - b.place);
  const found = new Map<number, { name: string; problem: ArchiveProblem }>();
  for (const [index, { name, place }] of sorted.entries()) {
    const before = sorted[index - 1];
    const problem = before && clashOf(before.name, name, before.place < place);
    if (!problem) continue;
    const later = before.place < place ? { name, place } : before;
    found.set(later.place, { name: later.name, problem });
  }
  return [...found].sort(([a], [b]) => a - b).map(([, clash]) => clash);
}

function order(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

/** The problem of two neighbors. */
function clashOf(one: string, other: string, isInOrder: boolean): ArchiveProblem | undefined {
  if (one === other) return twice(one);
  const start = one.slice(0, commonLength(one, other)).lastIndexOf('/') + 1;
  const [path, another] = [pathTo(one, start), pathTo(other, start)];
  const folded = [path, another].map((each) => foldCase(withoutSlash(each.slice(start))));
  if (folded[0] !== folded[1]) return undefined;
  return isInOrder ? meeting(path, another) : meeting(another, path);
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** To the end of the part that begins there, with its slash. */
function pathTo(name: string, start: number): string {
  return name.slice(0, name.indexOf('/', start) + 1 || name.length);
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

/** The names that make a folder a repository, as bits. Some systems accept a file instead of a folder. */
const partsOfRepository = new Map([
  ['HEAD', 1],
  ['OBJECTS', 2],
  ['REFS', 4],
  ['COMMONDIR', 8],
]);

function isRepository(parts: number): boolean {
  return [0b0111, 0b1001].some((needed) => (parts & needed) === needed);
}

/**
 * Finds folders that git treats as a repository although they aren't named `.git`. In one or below it, git runs the programs that its configuration names. The file
 * `commondir` contains the path of the folder with the rest of the repository.
 *
 * Sorted, all names in a folder follow one another, so only the folders around the present one are kept.
 */
export function findGitFolders(names: readonly string[]): { folder: string; problem: ArchiveProblem }[] {
  const sorted = names
    .map((name) => ({ name, folded: foldCase(withoutIgnorable(name)) }))
    .sort((a, b) => order(a.folded, b.folded));
  const repositories = new Set<string>();
  /** By the length of their paths. */
  let around: { length: number; parts: number }[] = [];
  let before = '';
  for (const { name, folded } of sorted) {
    const common = commonLength(before, folded);
    around = around.filter(({ length }) => length <= common);
    before = folded;
    let length = 0;
    for (const part of folded.split('/')) {
      const bit = partsOfRepository.get(part) ?? 0;
      const folder = around.find((each) => each.length === length);
      if (folder) folder.parts |= bit;
      else if (bit > 0) around.push({ length, parts: bit });
      if (folder && isRepository(folder.parts)) repositories.add(firstFolders(name, folded.slice(0, length)));
      length += part.length + 1;
    }
  }
  return [...repositories].sort().map((folder) => ({
    folder: folder === '' ? '.' : folder,
    problem: repositoryProblem(folder),
  }));
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
