import { type Entry, getFileNameLowLevel } from 'yauzl';
import { ArchiveProblem, encrypted, quote } from './archive-problem.ts';
import { checkName } from './names.ts';

/** What is kept of an entry of the directory; comments and extra fields may take megabytes. */
export interface ArchiveEntry {
  /** The name as programs of today read it. */
  name: string;
  /** The bytes of the name as older programs take them; an extra field can give newer ones another name. */
  plainName: string;
  isFolder: boolean;
  isStored: boolean;
  isDescribedAfter: boolean;
  isEncrypted: boolean;
  offset: number;
  packedBytes: number;
  bytes: number;
  crc32: number;
}

const kinds = { mask: 0o170000, file: 0o100000, folder: 0o040000, symbolicLink: 0o120000 } as const;

/** Nothing at all, deflated, takes two bytes; some programs pack folders so. */
const maxEmptyBytes = 2;

/** Judges one entry by what the directory says of it. */
export function archiveEntry(entry: Entry): ArchiveEntry {
  const { generalPurposeBitFlag, fileNameRaw, extraFields, externalFileAttributes, compressionMethod } =
    entry;
  const name = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
  const plainName = fileNameRaw.toString('latin1');
  checkName(name);
  checkName(plainName);
  checkKind(name, (externalFileAttributes >>> 16) & kinds.mask);
  if (!isKnownMethod(compressionMethod)) {
    throw new ArchiveProblem(`${quote(name)} is packed in a rare way. Use the ordinary "deflate" method.`);
  }
  const judged = {
    name,
    plainName,
    isFolder: name.endsWith('/'),
    ...readMethod(generalPurposeBitFlag, compressionMethod),
    offset: entry.relativeOffsetOfLocalHeader,
    packedBytes: entry.compressedSize,
    bytes: entry.uncompressedSize,
    crc32: entry.crc32,
  };
  if (judged.isEncrypted) throw encrypted();
  checkSizes(judged);
  return judged;
}

const flags = { encrypted: 0x1, describedAfter: 0x8, masked: 0x2000 } as const;
const methods = { stored: 0, deflated: 8 } as const;

/** What flags and method mean, in the directory and before an entry's data alike. */
export function readMethod(flag: number, method: number) {
  return {
    isStored: method === methods.stored,
    isDescribedAfter: (flag & flags.describedAfter) !== 0,
    isEncrypted: (flag & (flags.encrypted | flags.masked)) !== 0,
  };
}

function isKnownMethod(method: number): boolean {
  return method === methods.stored || method === methods.deflated;
}

function checkKind(name: string, kind: number): void {
  if (kind === kinds.symbolicLink) {
    throw new ArchiveProblem(`${quote(name)} is a symbolic link. Put the file itself in its place.`);
  }
  if (kind !== 0 && kind !== kinds.file && kind !== kinds.folder) {
    throw new ArchiveProblem(`${quote(name)} is a device or a pipe. Leave it out.`);
  }
}

function checkSizes({ name, isFolder, isStored, bytes, packedBytes }: ArchiveEntry): void {
  if (isFolder && (bytes > 0 || packedBytes > maxEmptyBytes)) {
    throw new ArchiveProblem(`the folder ${quote(name)} has content of its own. Make the zip anew.`);
  }
  if (isStored && packedBytes !== bytes) {
    throw new ArchiveProblem(`${quote(name)} states two sizes that cannot both be true. Make the zip anew.`);
  }
}
