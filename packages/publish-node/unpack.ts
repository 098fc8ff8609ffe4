import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import type { ArchiveFile } from '../../lib/archives/archive-file.ts';
import { ArchiveProblem } from '../../lib/archives/archive-problem.ts';
import { checkArchive } from '../../lib/archives/check-archive.ts';
import { readDirectory } from '../../lib/archives/directory.ts';
import { isFolder, isStored } from '../../lib/archives/entry.ts';
import { ArchiveReader, dataStart } from '../../lib/archives/reader.ts';
import * as config from '../../lib/config.ts';
import { Failure } from './failure.ts';

/**
 * Unpacks an archive into a new folder. The checks of the registry run again, whoever serves it: names that leave the
 * folder, links, devices, clashes and sizes that are not true are refused before the first file is written.
 */
export async function unpack(archive: Buffer, folder: string): Promise<number> {
  const file: ArchiveFile = {
    sizeBytes: archive.length,
    read: async (start, end) => archive.subarray(start, end),
    stream: async () => Readable.from([archive]),
  };
  await checkArchive(file).catch((error: unknown) => {
    if (!(error instanceof ArchiveProblem)) throw error;
    throw new Failure('archiveRefused', `The archive is not unpacked: ${error.sentence}`);
  });
  const target = resolve(folder);
  const { entries } = await readDirectory(file, config.archives());
  const reader = new ArchiveReader(file);
  await mkdir(dirname(target), { recursive: true });
  const draft = await mkdtemp(`${target}-`);
  try {
    for (const entry of entries) {
      const path = join(draft, entry.name);
      await mkdir(isFolder(entry) ? path : dirname(path), { recursive: true });
      if (isFolder(entry)) continue;
      const start = await dataStart(reader, entry.offset);
      const packed = Readable.from([archive.subarray(start, start + entry.packedBytes)]);
      const written = createWriteStream(path, { flags: 'wx' });
      if (isStored(entry) || entry.packedBytes === 0) await pipeline(packed, written);
      else await pipeline(packed, createInflateRaw(), written);
    }
    // An empty folder may be there; rename replaces no other.
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw new Failure('usage', `The archive cannot be unpacked into ${folder}: ${String(error)}.`, {
      about: '--unpack',
      cause: error,
    });
  }
  return entries.filter((entry) => !isFolder(entry)).length;
}
