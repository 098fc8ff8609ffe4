import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw, inflateRawSync, type InputType, type ZlibOptions } from 'node:zlib';
import { parseExtraFields } from 'yauzl';
import { type ArchiveFile, ArchiveReader, localHeader } from './archive-file.ts';
import {
  ArchiveProblem,
  damaged,
  hiddenBytes,
  overlapping,
  twoNames,
  untrueSize,
} from './archive-problem.ts';
import { type Directory, readDirectory } from './directory.ts';
import { type ArchiveEntry, checkVersionNeeded, isDescribedAfter, isStored, unicodeNameOf } from './entry.ts';
import { archiveLimits } from './limits.ts';

interface CheckedArchive {
  sha256: string;
  entries: ArchiveEntry[];
}

/** Throws an ArchiveProblem if the archive must not be published. Finds a bomb before it unpacks. */
export async function checkArchive(
  file: ArchiveFile,
  maxBytes: number = archiveLimits.archiveBytes,
): Promise<CheckedArchive> {
  if (file.sizeBytes > maxBytes) {
    throw new ArchiveProblem(
      `it has ${file.sizeBytes} bytes, and ${maxBytes} are allowed. Leave large files out.`,
    );
  }
  const reader = new ArchiveReader(file);
  const directory = await readDirectory(reader);
  await checkContent(reader, directory);
  return { sha256: await digestOf(file), entries: directory.entries };
}

async function digestOf(file: ArchiveFile): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of await file.stream()) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  if (bytes !== file.sizeBytes) throw new Error(`The stream had ${bytes} of ${file.sizeBytes} bytes.`);
  return hash.digest('hex');
}

/** Reads all entries, front to back, like programs that unpack while they download. Writes nothing. */
async function checkContent(reader: ArchiveReader, { entries, start }: Directory): Promise<void> {
  const inOrder = entries.toSorted((a, b) => a.offset - b.offset);
  if (inOrder[0]?.offset !== 0) throw hiddenBytes();
  for (const [index, entry] of inOrder.entries())
    await checkEntry(reader, entry, inOrder[index + 1]?.offset ?? start);
}

/** An entry must fill the archive from its own offset to the next one's. */
async function checkEntry(reader: ArchiveReader, entry: ArchiveEntry, next: number): Promise<void> {
  const start = await checkLocalHeader(reader, entry, next);
  const end = start + entry.packedBytes;
  if (end > next) throw overlapping(entry.name);
  await checkData(reader, entry, start);
  await checkDescriptor(reader, entry, end, next);
}

/*
 * Programs that unpack while they download see only the header before an entry's data and perhaps a
 * descriptor after it. Both must match the directory, or those programs see other files.
 */

const descriptor = 0x08074b50;

/** The second form has a signature, which the format makes optional. */
const descriptorBytes = { bare: 12, signed: 16 } as const;

/** Returns where the entry's data begin. */
async function checkLocalHeader(reader: ArchiveReader, entry: ArchiveEntry, next: number): Promise<number> {
  const end = entry.offset + localHeader.bytes;
  if (end > next) throw overlapping(entry.name);
  const header = await reader.bytesAt(entry.offset, localHeader.bytes);
  if (header.readUInt32LE(0) !== localHeader.signature) throw damaged(entry.name);
  checkVersionNeeded(entry.name, header.readUInt16LE(4));
  const extraAt = end + header.readUInt16LE(26);
  const start = extraAt + header.readUInt16LE(28);
  if (start > next) throw overlapping(entry.name);
  const name = await reader.bytesAt(end, extraAt - end);
  checkNames(entry, name, await reader.bytesAt(extraAt, start - extraAt));
  if (header.readUInt16LE(6) !== entry.flags || header.readUInt16LE(8) !== entry.method) {
    throw damaged(entry.name);
  }
  const stated = readSizes(header, 14);
  checkStated(entry, isDescribedAfter(entry) ? withLeftOpen(entry, stated) : stated);
  return start;
}

/** The bytes between an entry's data and the next entry. */
async function checkDescriptor(
  reader: ArchiveReader,
  entry: ArchiveEntry,
  start: number,
  next: number,
): Promise<void> {
  const bytes = next - start;
  if (!isDescribedAfter(entry)) {
    if (bytes > 0) throw hiddenBytes();
    return;
  }
  const isSigned = bytes === descriptorBytes.signed;
  if (!isSigned && bytes !== descriptorBytes.bare) throw hiddenBytes();
  const found = await reader.bytesAt(start, bytes);
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

/** In a header that a descriptor follows, zero means unknown. Some writers know one of the values. */
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

/** Entries up to this size are unpacked in one piece: a stream costs more than a small file's bytes. */
const maxWholeBytes = 1024 * 1024;
const chunkBytes = 128 * 1024;

/** Unpacks an entry's data into a counter, which proves the sizes in the directory. */
async function checkData(reader: ArchiveReader, entry: ArchiveEntry, start: number): Promise<void> {
  const seen = { bytes: 0, crc32: 0 };
  const count = (chunk: Buffer) => {
    seen.bytes += chunk.length;
    if (seen.bytes > entry.bytes) throw untrueSize(entry.name);
    seen.crc32 = crc32(chunk, seen.crc32);
  };
  if (isStored(entry)) {
    for await (const piece of reader.piecesAt(start, entry.packedBytes)) count(piece);
  } else if (Math.max(entry.packedBytes, entry.bytes) <= maxWholeBytes) {
    count(inflateWhole(await reader.bytesAt(start, entry.packedBytes), entry));
  } else {
    await inflateInPieces(reader.piecesAt(start, entry.packedBytes), entry, count);
  }
  if (seen.bytes !== entry.bytes) throw untrueSize(entry.name);
  if (seen.crc32 !== entry.crc32) throw damaged(entry.name);
}

function inflateWhole(packed: Buffer, entry: ArchiveEntry): Buffer {
  try {
    const { buffer, engine } = inflateRawSync(packed, wholeOptions(entry));
    if (engine.bytesWritten !== packed.length) throw hiddenBytes();
    return buffer;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw untrueSize(entry.name);
    throw code?.startsWith('Z_') ? damaged(entry.name) : error;
  }
}

declare module 'node:zlib' {
  /** The result of the option `info`, which the types omit. */
  function inflateRawSync(
    packed: InputType,
    options: ZlibOptions & { info: true },
  ): { buffer: Buffer; engine: { bytesWritten: number } };
}

/** One byte more than stated: a bomb fails in the first piece, and an honest file needs no second one. */
function wholeOptions({ bytes }: ArchiveEntry): ZlibOptions & { info: true } {
  const minChunkBytes = 64;
  return { info: true, maxOutputLength: bytes + 1, chunkSize: Math.max(bytes + 1, minChunkBytes) };
}

async function inflateInPieces(
  packed: AsyncIterable<Buffer>,
  entry: ArchiveEntry,
  count: (chunk: Buffer) => void,
): Promise<void> {
  const inflater = createInflateRaw({ chunkSize: chunkBytes });
  try {
    await pipeline(Readable.from(packed), inflater, async (unpacked) => {
      for await (const chunk of unpacked) count(chunk);
    });
  } catch (error) {
    if (String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw damaged(entry.name);
    throw error;
  }
  if (inflater.bytesWritten !== entry.packedBytes) throw hiddenBytes();
}
