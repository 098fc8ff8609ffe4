import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { Failure } from './failure.ts';
import { listFiles } from './list-files.ts';

export interface Archive {
  bytes: Buffer;
  files: string[];
}

/**
 * Every file gets this time, in every time zone (a zip's own times have none), so that the same files give the
 * same bytes, and a second run can tell that they are published already.
 */
const options = { mtime: new Date(2000, 0, 1), forceDosTimestamp: true } as const;

export async function zipFolder(folder: string): Promise<Archive> {
  const files = await listFiles(folder);
  if (files.length === 0) throw new Failure('usage', `There are no files to publish in "${folder}".`);
  const zip = new ZipFile();
  const bytes = buffer(zip.outputStream);
  for (const file of files) {
    const path = join(folder, file);
    const isExecutable = ((await stat(path)).mode & 0o100) !== 0;
    zip.addBuffer(await readFile(path), file, { ...options, mode: isExecutable ? 0o100755 : 0o100644 });
  }
  zip.end();
  return { bytes: await bytes, files };
}
