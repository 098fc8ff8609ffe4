import { readEnvironment } from '../environment.ts';
import { readContent } from './content.ts';
import { readDirectory } from './directory.ts';
import { ArchiveFault } from './archive-problem.ts';
import { type StoredObject, streamObject } from '../bucket/bucket.ts';

const limits = readEnvironment('archives');

/**
 * Judges an archive and returns its SHA-256; throws an ArchiveFault where it must not be published. The cheap
 * questions come first: a bomb is known by its directory, before anything is unpacked.
 */
export async function checkArchive(object: StoredObject): Promise<string> {
  if (object.sizeBytes > limits.MAX_ARCHIVE_BYTES) {
    throw new ArchiveFault(
      `it has ${object.sizeBytes} bytes, and ${limits.MAX_ARCHIVE_BYTES} are allowed. Leave large files out.`,
    );
  }
  const directory = await readDirectory(object, limits);
  return readContent(await streamObject(object), directory);
}
