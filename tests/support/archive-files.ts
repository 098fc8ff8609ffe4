import type { ArchiveFile } from '../../lib/archives/archive-file.ts';

/** As the network brings bytes. */
const chunkBytes = 64 * 1024;

/** An archive without a bucket: what is judged is its bytes alone. */
export function inMemory(archive: Buffer): ArchiveFile {
  async function* chunks() {
    for (let start = 0; start < archive.length; start += chunkBytes) {
      yield archive.subarray(start, start + chunkBytes);
    }
  }
  return {
    sizeBytes: archive.length,
    read: async (start, end) => archive.subarray(start, end),
    stream: async () => chunks(),
  };
}
