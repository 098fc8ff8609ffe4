import * as config from '../config.ts';
import type { ArchiveFile } from './archive-file.ts';
import { ArchiveProblem } from './archive-problem.ts';
import { readContent } from './content.ts';
import { readDirectory } from './directory.ts';

/**
 * Checks an archive and returns its SHA-256. Throws an ArchiveProblem if it must not be published. Cheap checks come
 * first: a bomb is recognized by its directory, before anything is unpacked.
 */
export async function checkArchive(file: ArchiveFile): Promise<string> {
  const { MAX_ARCHIVE_BYTES } = config.archives();
  if (file.sizeBytes > MAX_ARCHIVE_BYTES) {
    throw new ArchiveProblem(
      `it has ${file.sizeBytes} bytes, and ${MAX_ARCHIVE_BYTES} are allowed. Leave large files out.`,
    );
  }
  const directory = await readDirectory(file);
  return readContent(await file.stream(), directory);
}
