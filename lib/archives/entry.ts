import { type Entry, getFileNameLowLevel } from 'yauzl';
import { ArchiveProblem, encrypted, quote, twoNames } from './archive-problem.ts';
import { unicodeNameOf } from './extra-fields.ts';
import { checkName, checkPath } from './names.ts';

/** What is kept of an entry of the directory; comments and extra fields may take megabytes. */
export interface ArchiveEntry {
  /** The name as programs of today read it. */
  name: string;
  /** The bytes of the name as older programs take them; an extra field can give newer ones another name. */
  plainName: string;
  /** The name in that extra field. */
  unicodeName: string | undefined;
  flags: number;
  method: number;
  offset: number;
  packedBytes: number;
  bytes: number;
  crc32: number;
}

const kinds = { mask: 0o170000, file: 0o100000, folder: 0o040000, symbolicLink: 0o120000 } as const;
const flags = { encrypted: 0x1, describedAfter: 0x8, utf8: 0x800, masked: 0x2000 } as const;
const methods = { stored: 0, deflated: 8 } as const;

/** Nothing at all, deflated, takes two bytes; some programs pack folders so. */
const maxEmptyBytes = 2;

/** Checks one entry by what the directory says of it. */
export function archiveEntry(entry: Entry): ArchiveEntry {
  const names = namesOf(entry);
  checkName(names.name);
  if (names.plainName !== names.name) checkPath(names.plainName);
  if (names.unicodeName !== undefined && hasOneReading(entry) && !isSameName(entry, names.unicodeName)) {
    throw twoNames(names.name);
  }
  checkKind(names.name, (entry.externalFileAttributes >>> 16) & kinds.mask);
  const { compressionMethod: method, generalPurposeBitFlag } = entry;
  if (method !== methods.stored && method !== methods.deflated) {
    throw new ArchiveProblem(
      `${quote(names.name)} is packed in a rare way. Use the ordinary "deflate" method.`,
    );
  }
  if ((generalPurposeBitFlag & (flags.encrypted | flags.masked)) !== 0) throw encrypted();
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

/** The sizes and the checksum follow the data, for programs that did not know them in advance. */
export function isDescribedAfter(entry: ArchiveEntry): boolean {
  return (entry.flags & flags.describedAfter) !== 0;
}

function namesOf({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry) {
  return {
    name: getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true),
    plainName: fileNameRaw.toString('latin1'),
    unicodeName: unicodeNameOf(extraFields, fileNameRaw),
  };
}

/** Bytes beyond ASCII that are not marked as UTF-8 are read in many ways; there the extra field may say which. */
function hasOneReading({ generalPurposeBitFlag, fileNameRaw }: Entry): boolean {
  return (generalPurposeBitFlag & flags.utf8) !== 0 || fileNameRaw.every((byte) => byte < 0x80);
}

function isSameName({ fileNameRaw }: Entry, name: string): boolean {
  return fileNameRaw.toString('utf8') === name;
}

function checkKind(name: string, kind: number): void {
  if (kind === kinds.symbolicLink) {
    throw new ArchiveProblem(`${quote(name)} is a symbolic link. Put the file itself in its place.`);
  }
  if (kind !== 0 && kind !== kinds.file && kind !== kinds.folder) {
    throw new ArchiveProblem(`${quote(name)} is a device or a pipe. Leave it out.`);
  }
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
