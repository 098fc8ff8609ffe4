import { createHash } from 'node:crypto';
import { hiddenBytes, overlapping } from './archive-problem.ts';
import { ByteSource } from './byte-source.ts';
import type { Directory } from './directory.ts';
import type { ArchiveEntry } from './entry.ts';
import { readDescriptor, readLocalHeader } from './local-header.ts';
import { readData } from './unpack.ts';

/**
 * Reads the whole archive once, front to back, like programs that unpack while they download. Returns its digest, and
 * checks that every entry matches the directory. Nothing is written.
 */
export async function readContent(chunks: AsyncIterable<Uint8Array>, directory: Directory): Promise<string> {
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
