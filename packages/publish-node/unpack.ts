import { createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { type ArchiveFile, ArchiveReader, dataStart } from 'registry-rules/archives/archive-file';
import { ArchiveProblem } from 'registry-rules/archives/archive-problem';
import { checkArchive } from 'registry-rules/archives/check-archive';
import { isFolder, isStored } from 'registry-rules/archives/entry';
import { Failure } from './failure.ts';
import { reasonOf } from './new-file.ts';

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
  const { entries } = await checkArchive(file).catch((error: unknown) => {
    if (!(error instanceof ArchiveProblem)) throw error;
    throw new Failure('archiveRefused', `The archive is not unpacked: ${error.sentence}`);
  });
  const target = resolve(folder);
  const reader = new ArchiveReader(file);
  await requireNew(target, folder);
  const draft = await draftFor(target, folder);
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
    // A draft is its maker's alone; the unpacked folder is like any new one.
    await chmod(draft, 0o777 & ~process.umask());
    // An empty folder may be there; rename replaces no other.
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw new Failure('usage', `The archive cannot be unpacked into ${folder}: ${reasonOf(error)}.`, {
      about,
      cause: error,
    });
  }
  return entries.filter((entry) => !isFolder(entry)).length;
}

const about = '--unpack';

/** Before anything is written; the last word has the rename. */
async function requireNew(target: string, folder: string): Promise<void> {
  const stats = await stat(target).catch(() => undefined);
  if (stats === undefined) return;
  const what = stats.isDirectory() ? 'not empty' : 'not a folder';
  if (stats.isDirectory() && (await readdir(target)).length === 0) return;
  throw new Failure('usage', `${folder} exists, and is ${what}. Name a new folder.`, { about });
}

async function draftFor(target: string, folder: string): Promise<string> {
  try {
    await mkdir(dirname(target), { recursive: true });
    return await mkdtemp(`${target}-`);
  } catch (cause) {
    throw new Failure('usage', `The folder ${folder} cannot be created: ${reasonOf(cause)}.`, {
      about,
      cause,
    });
  }
}
