import { ArchiveProblem, quote } from './archive-problem.ts';

const longestName = 1000;

/** Refuses a name that would leave the folder it is unpacked into, or that some system cannot write. */
export function checkName(name: string): void {
  const shown = quote(name);
  if (name === '') throw new ArchiveProblem('it has a file without a name. Make the zip anew.');
  if (name.length > longestName) {
    throw new ArchiveProblem(`the name ${shown} has more than ${longestName} characters. Shorten it.`);
  }
  if ([...name].some((character) => character < ' ' || character === '\x7F' || character === '\uFFFD')) {
    throw new ArchiveProblem(`the name ${shown} has characters that are not text. Rename the file.`);
  }
  if (name.includes('\\')) {
    throw new ArchiveProblem(`the name ${shown} has a backslash. Make the zip with "/" between folders.`);
  }
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) {
    throw new ArchiveProblem(`the name ${shown} is an absolute path. Zip the folder with relative paths.`);
  }
  const segments = name.replace(/\/$/, '').split('/');
  if (segments.includes('..')) {
    throw new ArchiveProblem(
      `the name ${shown} leads out of the folder with "..". Zip from inside the folder.`,
    );
  }
  if (segments.includes('.') || segments.includes('')) {
    throw new ArchiveProblem(
      `the name ${shown} is not a plain path. Make the zip without "." and "//" in names.`,
    );
  }
}

/**
 * Refuses names that meet in one file once unpacked. Systems that ignore case, or spell accents their own way,
 * would keep one of the two, and which one depends on the program that unpacks.
 */
export function checkDistinct(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const known = seen.get(folded(name));
    if (known === name) throw new ArchiveProblem(`it has two files named ${quote(name)}. Keep one.`);
    if (known !== undefined) {
      throw new ArchiveProblem(
        `${quote(known)} and ${quote(name)} are one file on systems that ignore case. Rename one.`,
      );
    }
    seen.set(folded(name), name);
  }
  for (const name of names) {
    for (const folder of foldersOf(name)) {
      if (seen.has(folder))
        throw new ArchiveProblem(`${quote(folder)} is both a file and a folder. Rename one.`);
    }
  }
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function foldersOf(name: string): string[] {
  const segments = folded(name).replace(/\/$/, '').split('/');
  const own = name.endsWith('/') ? segments.length : segments.length - 1;
  return Array.from({ length: own }, (_, index) => segments.slice(0, index + 1).join('/'));
}
