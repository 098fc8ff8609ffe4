import { parseExtraFields } from 'yauzl';
import type { ByteSource } from './byte-source.ts';
import { damaged, hiddenBytes, overlapping, twoNames, untrueSize } from './archive-problem.ts';
import { type ArchiveEntry, isDescribedAfter, isStored } from './entry.ts';
import { checkVersionNeeded } from './entry-origin.ts';
import { unicodeNameOf } from './extra-fields.ts';

/*
 * Programs that unpack while they download see only the header before an entry's data and perhaps a descriptor after
 * it. Both must match the directory, or those programs see other files.
 */

const localHeader = 0x04034b50;
const localHeaderBytes = 30;
const descriptor = 0x08074b50;

/** The second form has a signature, which the format leaves to the writer. */
const descriptorBytes = { bare: 12, signed: 16 } as const;

/** Reads up to the start of the entry's data. The next entry begins at `next`. */
export async function readLocalHeader(source: ByteSource, entry: ArchiveEntry, next: number): Promise<void> {
  if (source.position + localHeaderBytes > next) throw overlapping(entry.name);
  const header = await source.take(localHeaderBytes);
  if (header.readUInt32LE(0) !== localHeader) throw damaged(entry.name);
  checkVersionNeeded(entry.name, header.readUInt16LE(4));
  const [nameBytes, extraBytes] = [header.readUInt16LE(26), header.readUInt16LE(28)];
  if (source.position + nameBytes + extraBytes > next) throw overlapping(entry.name);
  const name = await source.take(nameBytes);
  checkNames(entry, name, await source.take(extraBytes));
  if (header.readUInt16LE(6) !== entry.flags || header.readUInt16LE(8) !== entry.method) {
    throw damaged(entry.name);
  }
  const stated = readSizes(header, 14);
  checkStated(entry, isDescribedAfter(entry) ? withLeftOpen(entry, stated) : stated);
}

/** Reads the bytes between an entry's data and the next entry. */
export async function readDescriptor(source: ByteSource, entry: ArchiveEntry, bytes: number): Promise<void> {
  if (!isDescribedAfter(entry)) {
    if (bytes > 0) throw hiddenBytes();
    return;
  }
  const isSigned = bytes === descriptorBytes.signed;
  if (!isSigned && bytes !== descriptorBytes.bare) throw hiddenBytes();
  const found = await source.take(bytes);
  const isAmbiguous = !isSigned && (isStored(entry) || entry.crc32 === descriptor);
  if (isAmbiguous || (isSigned && found.readUInt32LE(0) !== descriptor)) throw hiddenBytes();
  checkStated(entry, readSizes(found, isSigned ? 4 : 0));
}

function checkNames(entry: ArchiveEntry, name: Buffer, extra: Buffer): void {
  // The entry's name is valid UTF-8, so no other bytes decode to it.
  if (name.toString('utf8') !== entry.name) throw twoNames(entry.name);
  const fields = extraFields(entry, extra);
  if (unicodeNameOf(fields, name) !== entry.unicodeName) throw twoNames(entry.name);
}

function extraFields({ name }: ArchiveEntry, extra: Buffer) {
  try {
    return parseExtraFields(extra);
  } catch {
    throw damaged(name);
  }
}

type Sizes = Pick<ArchiveEntry, 'crc32' | 'packedBytes' | 'bytes'>;

/** Header and descriptor store them in the same order. */
function readSizes(from: Buffer, at: number): Sizes {
  return {
    crc32: from.readUInt32LE(at),
    packedBytes: from.readUInt32LE(at + 4),
    bytes: from.readUInt32LE(at + 8),
  };
}

/** In a header that a descriptor follows, zero means an unknown value. Some writers know one of the values. */
function withLeftOpen(entry: ArchiveEntry, stated: Sizes): Sizes {
  return {
    crc32: stated.crc32 || entry.crc32,
    packedBytes: stated.packedBytes || entry.packedBytes,
    bytes: stated.bytes || entry.bytes,
  };
}

function checkStated(entry: ArchiveEntry, stated: Sizes): void {
  if (stated.bytes !== entry.bytes || stated.packedBytes !== entry.packedBytes) throw untrueSize(entry.name);
  if (stated.crc32 !== entry.crc32) throw damaged(entry.name);
}
