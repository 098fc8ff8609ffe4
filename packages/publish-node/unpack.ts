import { createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import {
  type ArchiveFile,
  ArchiveReader,
  dataStart,
} from '@node-registry/registry-rules/archives/archive-file';
import { ArchiveProblem } from '@node-registry/registry-rules/archives/archive-problem';
import { checkArchive } from '@node-registry/registry-rules/archives/check-archive';
import { isFolder, isStored } from '@node-registry/registry-rules/archives/entry';
import { Failure } from './failure.ts';
import { reasonOf } from './new-file.ts';

const about = '--unpack';

/**
 * Unpacks an archive into a new folder. The registry's checks run again, because the server may be hostile:
 * names that leave the folder, links, devices, clashes and false sizes are rejected before the first file is
 * written.
 */
export async function unpack(archive: Buffer, folder: string): Promise<number> {
  const file: ArchiveFile = {
    sizeBytes: archive.length,
    read: async (start, end) => archive.subarray(start, end),
    stream: async () => Readable.from([archive]),
  };
  const { entries } = await checkArchive(file).catch((error: unknown) => {
    if (!(error instanceof ArchiveProblem)) throw error;
    throw new Failure('archiveRejected', `The archive is not unpacked: ${error.sentence}`);
  });
  const target = resolve(folder);
  const reader = new ArchiveReader(file);
  await requireNew(target, folder);
  let draft: string | undefined;
  try {
    await mkdir(dirname(target), { recursive: true });
    draft = await mkdtemp(`${target}-`);
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
    // Only its creator can read a draft; the unpacked folder gets the usual permissions.
    await chmod(draft, 0o777 & ~process.umask());
    // An empty folder may exist; rename replaces no other.
    await rename(draft, target);
  } catch (cause) {
    if (draft !== undefined) await rm(draft, { recursive: true, force: true });
    const sentence = `The archive cannot be unpacked into ${folder}: ${reasonOf(cause)}.`;
    throw new Failure('usage', sentence, { about, cause });
  }
  return entries.filter((entry) => !isFolder(entry)).length;
}

/** Checks before anything is written; the rename checks again. */
async function requireNew(target: string, folder: string): Promise<void> {
  const stats = await stat(target).catch(() => undefined);
  if (stats === undefined || (stats.isDirectory() && (await readdir(target)).length === 0)) return;
  const what = stats.isDirectory() ? 'not empty' : 'not a folder';
  throw new Failure('usage', `${folder} exists, and is ${what}. Name a new folder.`, { about });
}
