import * as config from '../config.ts';
import type { ArchiveFile } from './archive-file.ts';
import { readContent } from './content.ts';
import { readDirectory } from './directory.ts';
import { ArchiveProblem } from './archive-problem.ts';

/**
 * Checks an archive and returns its SHA-256. Throws an ArchiveProblem if it must not be published. Cheap checks come
 * first: a bomb is recognized by its directory, before anything is unpacked.
 */
export async function checkArchive(file: ArchiveFile): Promise<string> {
  const limits = config.archives();
  if (file.sizeBytes > limits.MAX_ARCHIVE_BYTES) {
    throw new ArchiveProblem(
      `it has ${file.sizeBytes} bytes, and ${limits.MAX_ARCHIVE_BYTES} are allowed. Leave large files out.`,
    );
  }
  const directory = await readDirectory(file, limits);
  return readContent(await file.stream(), directory);
}
