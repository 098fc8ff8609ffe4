import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { type Entry, type ExtraField, getFileNameLowLevel } from 'yauzl';
import {
  ArchiveProblem,
  encrypted,
  fileAndFolder,
  quote,
  rarelyPacked,
  twoNames,
  unmarkedName,
  zip64,
} from './archive-problem.ts';
import { checkName, isFolderName } from './names.ts';

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
  return isFolderName(name);
}

export function isStored({ method }: ArchiveEntry): boolean {
  return method === methods.stored;
}

/** Sizes and checksum follow the data, from programs that did not know them in advance. */
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
      `${quote(name)} is stored with its size after it, so its end can only be guessed. Make the zip again.`,
    );
  }
}

const ids = { zip64: 0x0001, unicodePath: 0x7075 } as const;
const unicodePathHeaderBytes = 5;

/**
 * The name in an entry's extra fields. Extra fields can also state other sizes and another offset than the header. Both
 * are rejected, because not every program reads them.
 */
export function unicodeNameOf(fields: readonly ExtraField[], plainName: Buffer): string | undefined {
  if (fields.some(({ id }) => id === ids.zip64)) throw zip64();
  const [field, another] = fields.filter(({ id }) => id === ids.unicodePath);
  if (!field) return undefined;
  const { data } = field;
  // A field with another checksum was made for another name. Some programs ignore it, and some do not.
  const isMeant =
    data.length > unicodePathHeaderBytes && data[0] === 1 && data.readUInt32LE(1) === crc32(plainName);
  if (another || !isMeant) throw twoNames(plainName.toString('utf8'));
  return data.toString('utf8', unicodePathHeaderBytes);
}

/*
 * An entry names the program that made it and the version needed to unpack it. Because of these fields, some programs
 * skip an entry, convert its name or create something other than a file. Others never look at them.
 */

/** From the format's specification. Info-ZIP writes 11 for NTFS. */
const unix = [3, 19];
const systems = new Set([0, 10, 11, 14, ...unix]);

const kinds = { mask: 0o170000, file: 0o100000, folder: 0o040000, symbolicLink: 0o120000 } as const;
const attributes = { volumeLabel: 0x08, folder: 0x10 } as const;

const flags = { describedAfter: 0x8, utf8: 0x800 } as const;
const anyEncryption = 0x2041;
/** The first one states the compression level. */
const knownFlags = 0x6 | flags.describedAfter | flags.utf8;

/** The format's version, times ten. Later ones, and bzip2 in 46, need methods that are rejected anyway. */
const maxVersionNeeded = 45;

/** The bytes that stay outside ASCII when unzip converts a name. */
const beyondAscii = /[\x80-\x97\x99-\xBA\xBD\xBE\xC6\xC7\xCC\xCF-\xD4\xD6-\xD8\xDB\xDD-\xF1\xF3-\xFF]/;

function isMadeOnUnix(versionMadeBy: number): boolean {
  return unix.includes(versionMadeBy >>> 8);
}

/** Checks the fields of an entry other than its name and sizes. */
function checkOrigin(name: string, entry: Entry): void {
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

/** Some programs check only the low byte, some skip the entry, and some reject the whole archive. */
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
  if (isCalledFolder && !isFolderName(name)) throw fileAndFolder(name);
}
