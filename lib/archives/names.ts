import { ArchiveProblem, quote } from './archive-problem.ts';

const maxNameLength = 1000;
const maxFolderDepth = 64;

/** Windows takes these for something other than a name, cuts trailing dots and blanks, and opens devices. */
const notOnWindows = [
  /[<>:"|?*]/,
  /[. ](?:\/|$)/,
  /(?:^|\/)(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9\u00b9\u00b2\u00b3]) *(?:[./]|$)/i,
];

/** No width or no direction of their own: they only make one name look like another. Emoji need the selectors. */
const invisible = /[\p{Default_Ignorable_Code_Point}--[\uFE00-\uFE0F]]/v;

/** Refuses a name that leaves the folder it is unpacked into, that a system cannot write, or that deceives. */
export function checkName(name: string): void {
  checkPath(name);
  if (/[\x80-\x9F\u2028\u2029\uFFFD]/.test(name)) throw notText(name);
  if (invisible.test(name)) {
    throw new ArchiveProblem(`the name ${quote(name)} has invisible characters. Rename the file.`);
  }
}

/** As above, of bytes that only older programs read as this text: the dangerous characters are all ASCII. */
export function checkPath(name: string): void {
  if (name === '') throw new ArchiveProblem('it has a file without a name. Make the zip again.');
  if (name.length > maxNameLength) {
    throw new ArchiveProblem(
      `the name ${quote(name)} has more than ${maxNameLength} characters. Shorten it.`,
    );
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1F\x7F]/.test(name)) throw notText(name);
  if (name.includes('\\')) {
    throw new ArchiveProblem(
      `the name ${quote(name)} has a backslash. Make the zip with "/" between folders.`,
    );
  }
  if (/^(?:\/|[A-Za-z]:)/.test(name)) {
    throw new ArchiveProblem(
      `the name ${quote(name)} is an absolute path. Zip the folder with relative paths.`,
    );
  }
  checkSegments(name);
  if (notOnWindows.some((pattern) => pattern.test(name))) {
    throw new ArchiveProblem(`the name ${quote(name)} cannot be written on Windows. Rename it.`);
  }
}

function checkSegments(name: string): void {
  const segments = withoutSlash(name).split('/');
  if (segments.includes('..')) {
    throw new ArchiveProblem(
      `the name ${quote(name)} leads out of the folder with "..". Zip from inside the folder.`,
    );
  }
  if (segments.includes('.') || segments.includes('')) {
    throw new ArchiveProblem(
      `the name ${quote(name)} is not a plain path. Make the zip without "." and "//" in names.`,
    );
  }
  if (segments.length - Number(!isFolder(name)) > maxFolderDepth) {
    throw new ArchiveProblem(
      `the name ${quote(name)} lies in more than ${maxFolderDepth} folders. Make them fewer.`,
    );
  }
}

/**
 * Refuses names that meet in one file once unpacked. Systems that ignore case, or spell accents their own way,
 * would keep one of the two, and which one depends on the program that unpacks. Sorted, names that meet are
 * neighbors: nothing comes between a file and what lies in a folder of its name.
 */
export function checkDistinct(names: readonly string[]): void {
  const sorted = names
    .map((name) => ({ name, path: sortable(name) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  for (const [index, { name, path }] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next?.path === path) throw meeting(name, next.name);
    if (!isFolder(name) && next?.path.startsWith(path + separator)) throw fileAndFolder(name);
  }
}

/** Less than any character that a name may have. */
const separator = '\0';

function sortable(name: string): string {
  // Both ways, for letters of which only one way finds the partner: the Kelvin sign, the final sigma, the sharp s.
  return withoutSlash(name).normalize('NFC').toLowerCase().toUpperCase().replaceAll('/', separator);
}

function meeting(name: string, other: string): ArchiveProblem {
  if (name === other) return new ArchiveProblem(`it has two files named ${quote(name)}. Keep one.`);
  if (isFolder(name) !== isFolder(other)) return fileAndFolder(withoutSlash(name));
  return new ArchiveProblem(
    `${quote(name)} and ${quote(other)} are one file on systems that ignore case. Rename one.`,
  );
}

function fileAndFolder(name: string): ArchiveProblem {
  return new ArchiveProblem(`${quote(name)} is both a file and a folder. Rename one.`);
}

function notText(name: string): ArchiveProblem {
  return new ArchiveProblem(`the name ${quote(name)} has characters that are not text. Rename the file.`);
}

function isFolder(name: string): boolean {
  return name.endsWith('/');
}

function withoutSlash(name: string): string {
  return isFolder(name) ? name.slice(0, -1) : name;
}
