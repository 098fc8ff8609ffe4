import type { ArchiveFile } from '@node-registry/registry-rules/archives/archive-file';

/** In chunks, as they arrive over a network. */
const chunkBytes = 64 * 1024;

/** An archive without a bucket: only its bytes are checked. */
export function inMemory(archive: Buffer): ArchiveFile {
  async function* chunks() {
    for (let start = 0; start < archive.length; start += chunkBytes)
      yield archive.subarray(start, start + chunkBytes);
  }
  return {
    sizeBytes: archive.length,
    read: async (start, end) => archive.subarray(start, end),
    stream: async () => chunks(),
  };
}
