import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import type { Directory } from './directory.ts';
import { type ArchiveEntry, readMethod } from './entry.ts';
import { ArchiveProblem, quote } from './archive-problem.ts';
import { ByteSource } from './byte-source.ts';

const localHeader = 0x04034b50;
const localHeaderBytes = 30;

/** Stands where a size is in an extra field instead. */
const inZip64Field = 0xffffffff;

/** The sizes that a descriptor behind an entry's data can have: with or without signature, 32 or 64 bits. */
const descriptorBytes = new Set([12, 16, 20, 24]);

/**
 * Reads the whole archive once, front to back: its digest comes out, and every entry is unpacked into a counter,
 * so that what the directory says of it is known to be true. Nothing is written anywhere.
 */
export async function readContent(chunks: AsyncIterable<Uint8Array>, directory: Directory): Promise<string> {
  const hash = createHash('sha256');
  const source = new ByteSource(chunks, (chunk) => hash.update(chunk));
  try {
    const entries = directory.entries.toSorted((a, b) => a.offset - b.offset);
    for (const [index, entry] of entries.entries()) {
      const next = entries[index + 1]?.offset ?? directory.start;
      await readEntry(source, entry, next);
    }
    await source.drain();
  } finally {
    await source.close();
  }
  return hash.digest('hex');
}

/** An entry must fill the archive from its own offset to the next one's, but for a descriptor of its sizes. */
async function readEntry(source: ByteSource, entry: ArchiveEntry, next: number): Promise<void> {
  if (entry.offset !== source.position) throw hidden();
  if (source.position + localHeaderBytes > next) throw overlapping(entry);
  await readLocalHeader(source, entry, next);
  const gap = next - source.position - entry.packedBytes;
  if (gap < 0) throw overlapping(entry);
  if (gap > 0 && !(entry.isDescribedAfter && descriptorBytes.has(gap))) throw hidden();
  await readData(source, entry);
  await source.take(gap);
}

async function readLocalHeader(source: ByteSource, entry: ArchiveEntry, next: number): Promise<void> {
  const header = await source.take(localHeaderBytes);
  if (header.readUInt32LE(0) !== localHeader) throw damaged(entry);
  const [nameBytes, extraBytes] = [header.readUInt16LE(26), header.readUInt16LE(28)];
  if (source.position + nameBytes + extraBytes > next) throw overlapping(entry);
  const name = await source.take(nameBytes);
  await source.take(extraBytes);
  if (name.toString('latin1') !== entry.plainName) {
    throw new ArchiveProblem(`${quote(entry.name)} has two different names in it. Make the zip anew.`);
  }
  const method = readMethod(header.readUInt16LE(6), header.readUInt16LE(8));
  if (method.isEncrypted || method.isStored !== entry.isStored) throw damaged(entry);
  const unpackedBytes = header.readUInt32LE(22);
  if (!entry.isDescribedAfter && unpackedBytes !== inZip64Field && unpackedBytes !== entry.bytes) {
    throw untrue(entry);
  }
}

async function readData(source: ByteSource, entry: ArchiveEntry): Promise<void> {
  const seen = { bytes: 0, crc32: 0 };
  const count = (chunk: Buffer) => {
    seen.bytes += chunk.length;
    seen.crc32 = crc32(chunk, seen.crc32);
    if (seen.bytes > entry.bytes) throw untrue(entry);
  };
  if (entry.isStored) {
    for await (const chunk of source.next(entry.packedBytes)) count(chunk);
  } else {
    await inflate(source, entry, count);
  }
  if (seen.bytes !== entry.bytes) throw untrue(entry);
  if (seen.crc32 !== entry.crc32) throw damaged(entry);
}

async function inflate(
  source: ByteSource,
  entry: ArchiveEntry,
  count: (chunk: Buffer) => void,
): Promise<void> {
  const inflater = createInflateRaw();
  const end = source.position + entry.packedBytes;
  try {
    await pipeline(Readable.from(source.next(entry.packedBytes)), inflater, async (unpacked) => {
      for await (const chunk of unpacked) count(chunk);
    });
  } catch (error) {
    if (String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw damaged(entry);
    throw error;
  }
  if (source.position !== end || inflater.bytesWritten !== entry.packedBytes) throw hidden();
}

function untrue(entry: ArchiveEntry): ArchiveProblem {
  return new ArchiveProblem(
    `${quote(entry.name)} unpacks to another size than the zip states. Make the zip anew.`,
  );
}

function damaged(entry: ArchiveEntry): ArchiveProblem {
  return new ArchiveProblem(`${quote(entry.name)} is damaged. Make the zip anew, and upload the whole file.`);
}

function overlapping(entry: ArchiveEntry): ArchiveProblem {
  return new ArchiveProblem(`${quote(entry.name)} overlaps with another file in it. Make the zip anew.`);
}

function hidden(): ArchiveProblem {
  return new ArchiveProblem('there are bytes in it that belong to no file. Make the zip anew.');
}
