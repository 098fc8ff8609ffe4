import type { ArchiveFile } from '@node-registry/registry-rules/archives/archive-file';

/** In chunks, as they arrive over a network. */
const chunkBytes = 64 * 1024;

/** An archive without a bucket: only its bytes are checked. It says whether a stream of them is open. */
export function inMemory(archive: Buffer): ArchiveFile & { isOpen: () => boolean } {
  let open = 0;
  async function* chunks() {
    open += 1;
    try {
      for (let start = 0; start < archive.length; start += chunkBytes)
        yield archive.subarray(start, start + chunkBytes);
    } finally {
      open -= 1;
    }
  }
  return {
    isOpen: () => open > 0,
    sizeBytes: archive.length,
    read: async (start, end) => archive.subarray(start, end),
    stream: async () => chunks(),
  };
}
