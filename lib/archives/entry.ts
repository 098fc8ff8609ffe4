import { isUtf8 } from 'node:buffer';
import { type Entry, getFileNameLowLevel } from 'yauzl';
import { ArchiveProblem, quote, rarelyPacked, twoNames, unmarkedName } from './archive-problem.ts';
import { checkOrigin, flags, isMadeOnUnix } from './entry-origin.ts';
import { unicodeNameOf } from './extra-fields.ts';
import { checkName } from './names.ts';

/** The parts of a directory entry that are kept. Comments and extra fields may take megabytes. */
export interface ArchiveEntry {
  name: string;
  /** The name in programs that read unmarked names in the code page of the first PCs. */
  olderName: string;
  /** The name in an extra field, if there is one. It equals the name above. */
  unicodeName: string | undefined;
  flags: number;
  method: number;
  offset: number;
  packedBytes: number;
  bytes: number;
  crc32: number;
}

const methods = { stored: 0, deflated: 8 } as const;

/** An empty deflate stream takes two bytes. Some programs pack folders that way. */
const maxEmptyBytes = 2;

/** Checks one entry by its fields in the directory. */
export function archiveEntry(entry: Entry): ArchiveEntry {
  const names = namesOf(entry);
  checkName(names.name);
  if (names.olderName !== names.name) checkName(names.olderName);
  if (names.unicodeName !== undefined && names.unicodeName !== names.name) throw twoNames(names.name);
  const { compressionMethod: method, generalPurposeBitFlag } = entry;
  if (method !== methods.stored && method !== methods.deflated) throw rarelyPacked(names.name);
  checkOrigin(names.name, entry);
  const checked = {
    ...names,
    flags: generalPurposeBitFlag,
    method,
    offset: entry.relativeOffsetOfLocalHeader,
    packedBytes: entry.compressedSize,
    bytes: entry.uncompressedSize,
    crc32: entry.crc32,
  };
  checkSizes(checked);
  return checked;
}

export function isFolder({ name }: ArchiveEntry): boolean {
  return name.endsWith('/');
}

export function isStored({ method }: ArchiveEntry): boolean {
  return method === methods.stored;
}

/** Sizes and checksum follow the data, for programs that did not know them in advance. */
export function isDescribedAfter(entry: ArchiveEntry): boolean {
  return (entry.flags & flags.describedAfter) !== 0;
}

/**
 * Names beyond ASCII should be marked as UTF-8, but macOS and Info-ZIP on Unix write UTF-8 without the mark. Programs
 * then read it as UTF-8 or as code page 437. Both readings have the same ASCII characters, so folders, extensions and
 * Python modules keep their names. Each reading is checked like a name of its own. Bytes that are not UTF-8 have no
 * common reading, and some programs convert names that were not made on Unix.
 */
function namesOf({ generalPurposeBitFlag, fileNameRaw, extraFields, versionMadeBy }: Entry) {
  const name = fileNameRaw.toString('utf8');
  const hasOneReading =
    (generalPurposeBitFlag & flags.utf8) !== 0 || fileNameRaw.every((byte) => byte < 0x80);
  const unicodeName = unicodeNameOf(extraFields, fileNameRaw);
  if (!hasOneReading && (!isUtf8(fileNameRaw) || !isMadeOnUnix(versionMadeBy))) throw unmarkedName(name);
  return { name, olderName: hasOneReading ? name : readAsCodePage437(fileNameRaw), unicodeName };
}

function readAsCodePage437(bytes: Buffer): string {
  return getFileNameLowLevel(0, bytes, [], true);
}

function checkSizes(entry: ArchiveEntry): void {
  const { name, bytes, packedBytes } = entry;
  if (isFolder(entry) && (bytes > 0 || packedBytes > maxEmptyBytes)) {
    throw new ArchiveProblem(`the folder ${quote(name)} has content of its own. Make the zip again.`);
  }
  if (!isStored(entry)) return;
  if (packedBytes !== bytes) {
    throw new ArchiveProblem(`${quote(name)} states two sizes that cannot both be true. Make the zip again.`);
  }
  if (isDescribedAfter(entry) && bytes > 0) {
    throw new ArchiveProblem(
      `${quote(name)} is stored with its size behind it, so that its end is a guess. Make the zip again.`,
    );
  }
}
