import type { Entry } from 'yauzl';
import { ArchiveProblem, encrypted, fileAndFolder, quote, rarelyPacked } from './archive-problem.ts';

/*
 * An entry names the program that made it and the version needed to unpack it. Because of these fields, some programs
 * skip an entry, convert its name or create something other than a file. Others never look at them.
 */

/** From the format's specification. Info-ZIP writes 11 for NTFS. */
const unix = [3, 19];
const systems = new Set([0, 10, 11, 14, ...unix]);

const kinds = { mask: 0o170000, file: 0o100000, folder: 0o040000, symbolicLink: 0o120000 } as const;
const attributes = { volumeLabel: 0x08, folder: 0x10 } as const;

export const flags = { describedAfter: 0x8, utf8: 0x800 } as const;
const anyEncryption = 0x2041;
/** The first one states the compression level. */
const knownFlags = 0x6 | flags.describedAfter | flags.utf8;

/** The format's version, times ten. Later ones, and bzip2 in 46, need methods that are rejected anyway. */
const maxVersionNeeded = 45;

/** The bytes that stay beyond ASCII when unzip converts a name. */
const beyondAscii = /[\x80-\x97\x99-\xBA\xBD\xBE\xC6\xC7\xCC\xCF-\xD4\xD6-\xD8\xDB\xDD-\xF1\xF3-\xFF]/;

export function isMadeOnUnix(versionMadeBy: number): boolean {
  return unix.includes(versionMadeBy >>> 8);
}

/** Checks the fields of an entry other than its name and sizes. */
export function checkOrigin(name: string, entry: Entry): void {
  const system = entry.versionMadeBy >>> 8;
  if (!systems.has(system)) {
    throw new ArchiveProblem(
      `${quote(name)} was packed for a rare system (${system}). Make the zip on Windows, macOS or Linux.`,
    );
  }
  if (!unix.includes(system)) checkConversion(name, entry.fileNameRaw);
  checkAttributes(name, entry.externalFileAttributes);
  checkVersionNeeded(name, entry.versionNeededToExtract);
  if ((entry.generalPurposeBitFlag & anyEncryption) !== 0) throw encrypted();
  if ((entry.generalPurposeBitFlag & ~knownFlags) !== 0) throw rarelyPacked(name);
}

/** Some programs look at the low byte only, some skip the entry, and some reject the whole archive. */
export function checkVersionNeeded(name: string, version: number): void {
  if (version > maxVersionNeeded) {
    throw new ArchiveProblem(`${quote(name)} needs a rare version of the zip format. Make it a plain zip.`);
  }
}

/**
 * If a name was not made on Unix, unzip converts each byte from code page 850, even if the name is marked as UTF-8.
 * Most bytes become other letters beyond ASCII, but these become ASCII: a harmless name turns into "__init__.py".
 */
function checkConversion(name: string, bytes: Buffer): void {
  const isTurned = (part: string) => /[\x80-\xFF]/.test(part) && !beyondAscii.test(part);
  if (!bytes.toString('latin1').split('/').some(isTurned)) return;
  throw new ArchiveProblem(`the name ${quote(name)} becomes another name in some programs. Rename it.`);
}

function checkAttributes(name: string, external: number): void {
  const kind = (external >>> 16) & kinds.mask;
  if (kind === kinds.symbolicLink) {
    throw new ArchiveProblem(`${quote(name)} is a symbolic link. Put the file itself in its place.`);
  }
  if (kind !== 0 && kind !== kinds.file && kind !== kinds.folder) {
    throw new ArchiveProblem(`${quote(name)} is a device or a pipe. Leave it out.`);
  }
  if ((external & attributes.volumeLabel) !== 0) {
    throw new ArchiveProblem(`${quote(name)} is the label of a volume. Leave it out.`);
  }
  const isCalledFolder = kind === kinds.folder || (external & attributes.folder) !== 0;
  if (isCalledFolder && !name.endsWith('/')) throw fileAndFolder(name);
}
