import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { damaged, hiddenBytes, untrueSize } from './archive-problem.ts';
import type { ByteSource } from './byte-source.ts';
import { type ArchiveEntry, isStored } from './entry.ts';

/** Entries up to this size are unpacked in one piece: a stream costs more than a small file's bytes. */
const maxWholeBytes = 1024 * 1024;
const chunkBytes = 128 * 1024;

/** Reads an entry's data and unpacks it into a counter, so that the sizes in the directory are known to be true. */
export async function readData(source: ByteSource, entry: ArchiveEntry): Promise<void> {
  const seen = { bytes: 0, crc32: 0 };
  const count = (chunk: Buffer) => {
    seen.bytes += chunk.length;
    if (seen.bytes > entry.bytes) throw untrueSize(entry.name);
    seen.crc32 = crc32(chunk, seen.crc32);
  };
  if (isStored(entry)) {
    for await (const chunk of source.next(entry.packedBytes)) count(chunk);
  } else if (Math.max(entry.packedBytes, entry.bytes) <= maxWholeBytes) {
    count(inflateWhole(await source.take(entry.packedBytes), entry));
  } else {
    await inflateInPieces(source, entry, count);
  }
  if (seen.bytes !== entry.bytes) throw untrueSize(entry.name);
  if (seen.crc32 !== entry.crc32) throw damaged(entry.name);
}

function inflateWhole(packed: Buffer, entry: ArchiveEntry): Buffer {
  try {
    const { buffer, engine } = inflateRawSync(packed, wholeOptions(entry)) as unknown as Inflated;
    if (engine.bytesWritten !== packed.length) throw hiddenBytes();
    return buffer;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw untrueSize(entry.name);
    throw code?.startsWith('Z_') ? damaged(entry.name) : error;
  }
}

/** The result of the option `info`, which the types omit. */
interface Inflated {
  buffer: Buffer;
  engine: { bytesWritten: number };
}

/** One byte more than stated, so that a bomb fails in the first piece and an honest file needs no second one. */
function wholeOptions({ bytes }: ArchiveEntry): ZlibOptions {
  const minChunkBytes = 64;
  return { info: true, maxOutputLength: bytes + 1, chunkSize: Math.max(bytes + 1, minChunkBytes) };
}

async function inflateInPieces(
  source: ByteSource,
  entry: ArchiveEntry,
  count: (chunk: Buffer) => void,
): Promise<void> {
  const inflater = createInflateRaw({ chunkSize: chunkBytes });
  try {
    await pipeline(Readable.from(source.next(entry.packedBytes)), inflater, async (unpacked) => {
      for await (const chunk of unpacked) count(chunk);
    });
  } catch (error) {
    if (String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw damaged(entry.name);
    throw error;
  }
  if (inflater.bytesWritten !== entry.packedBytes) throw hiddenBytes();
}
