import { constants, statSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join, relative, sep } from 'node:path';
import { Failure } from '../failure.ts';

/*
 * A file of the folder may be a link, or below one, and lead anywhere. So files are read by their real path, and only inside
 * the folder.
 */

/** Where a file of the folder really is, relative to the folder and with `/`; undefined outside of it or in no place. */
export async function realPlace(root: string, path: string): Promise<string | undefined> {
  const place = await realpath(join(root, path)).catch(() => undefined);
  if (place === undefined || !place.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined;
  return relative(root, place).replaceAll('\\', '/');
}

export interface OwnFile {
  content: Buffer;
  isExecutable: boolean;
}

/** For ignore files and project files, which people write. */
const maxOwnBytes = 1_000_000;

/**
 * A regular file of the folder, whose root is a real path. Undefined for a link that leads out, or a pipe, which would
 * never end.
 */
export async function readOwnFile(
  root: string,
  path: string,
  maxBytes = maxOwnBytes,
): Promise<OwnFile | undefined> {
  const place = await realPlace(root, path);
  if (place === undefined) return undefined;
  return readOpen(join(root, place), constants.O_NOFOLLOW ?? 0, async (file) => {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    return { content: await file.readFile(), isExecutable: (stats.mode & 0o100) !== 0 };
  }).catch((cause) => {
    throw new Failure('usage', `${path} cannot be read: ${cause.code}.`, { about: path, cause });
  });
}

/** A regular file of any place. Undefined if there is none; /dev/null is empty. */
export async function readPlain(path: string, maxBytes: number): Promise<Buffer | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || stats.rdev === emptyDevice) return undefined;
  if (!stats.isFile()) throw new Error('is not a file');
  return readOpen(path, 0, async (file) => {
    const { size } = await file.stat();
    if (size > maxBytes) throw new Error(`has over ${maxBytes / 1e6} MB`);
    return file.readFile();
  });
}

const emptyDevice = statSync(devNull, { throwIfNoEntry: false })?.rdev;

/** Without waiting for the other end of a pipe. */
async function readOpen<Read>(
  path: string,
  flags: number,
  read: (file: FileHandle) => Promise<Read>,
): Promise<Read> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}
