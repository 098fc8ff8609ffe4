import { createHash } from 'node:crypto';
import * as config from '../config.ts';
import { type ArchiveFile, ByteSource } from './archive-file.ts';
import { type Directory, readDirectory } from './directory.ts';
import { ArchiveProblem, hiddenBytes, overlapping } from './archive-problem.ts';
import type { ArchiveEntry } from './entry.ts';
import { readData, readDescriptor, readLocalHeader } from './entry-content.ts';

interface CheckedArchive {
  sha256: string;
  entries: ArchiveEntry[];
}

/** Throws an ArchiveProblem if it must not be published. A bomb is recognized by its directory, before it is unpacked. */
export async function checkArchive(file: ArchiveFile): Promise<CheckedArchive> {
  const { MAX_ARCHIVE_BYTES } = config.archives();
  if (file.sizeBytes > MAX_ARCHIVE_BYTES) {
    throw new ArchiveProblem(
      `it has ${file.sizeBytes} bytes, and ${MAX_ARCHIVE_BYTES} are allowed. Leave large files out.`,
    );
  }
  const directory = await readDirectory(file);
  return { sha256: await readContent(await file.stream(), directory), entries: directory.entries };
}

/**
 * Reads the whole archive once, front to back, like programs that unpack while they download. Returns its digest, and
 * checks that every entry matches the directory. Nothing is written.
 */
async function readContent(chunks: AsyncIterable<Uint8Array>, directory: Directory): Promise<string> {
  const hash = createHash('sha256');
  const source = new ByteSource(chunks, (chunk) => hash.update(chunk));
  try {
    const entries = directory.entries.toSorted((a, b) => a.offset - b.offset);
    for (const [index, entry] of entries.entries()) {
      await readEntry(source, entry, entries[index + 1]?.offset ?? directory.start);
    }
    await source.drain();
  } finally {
    await source.close();
  }
  return hash.digest('hex');
}

/** An entry must fill the archive from its own offset to the next one's. */
async function readEntry(source: ByteSource, entry: ArchiveEntry, next: number): Promise<void> {
  if (entry.offset !== source.position) throw hiddenBytes();
  await readLocalHeader(source, entry, next);
  const between = next - source.position - entry.packedBytes;
  if (between < 0) throw overlapping(entry.name);
  await readData(source, entry);
  await readDescriptor(source, entry, between);
}
