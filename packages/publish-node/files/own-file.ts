import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { realpathSync, type Stats, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { join, relative, sep } from 'node:path';
import { Failure } from '../failure.ts';

/*
 * A file of the folder may be a link, or below one, and lead anywhere. So files are read by their real path,
 * and only inside the folder.
 */

/** The real path of a file, relative to the folder and with `/`; undefined if outside or missing. */
export function realPlace(root: string, path: string): string | undefined {
  const place = ifThere(() => realpathSync.native(join(root, path)));
  if (place === undefined || !place.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined;
  return relative(root, place).replaceAll(sep, '/');
}

/** Doesn't follow links. Undefined without a file. Synchronous: ten times as fast, and folders have many. */
export function statsOf(path: string): Stats | undefined {
  return ifThere(() => lstatSync(path));
}

const absent = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];

function ifThere<Result>(work: () => Result, codes: readonly string[] = absent): Result | undefined {
  try {
    return work();
  } catch (error) {
    // A file that can't be inspected exists, and must not be silently left out.
    if (codes.includes(String(Object(error).code))) return undefined;
    throw error;
  }
}

export interface OwnFile {
  content: Buffer;
  isExecutable: boolean;
}

/** For ignore files and project files, which people write. */
const maxOwnBytes = 1_000_000;

/**
 * A regular file of the folder, whose root is a real path. Undefined for a link that leads out, or a pipe,
 * which would never end.
 */
export async function readOwnFile(
  root: string,
  path: string,
  maxBytes = maxOwnBytes,
): Promise<OwnFile | undefined> {
  const place = realPlace(root, path);
  if (place === undefined) return undefined;
  try {
    return readOpen(join(root, place), constants.O_NOFOLLOW ?? 0, (file, stats) => {
      if (!stats.isFile() || stats.size > maxBytes) return undefined;
      return { content: readFileSync(file), isExecutable: (stats.mode & 0o100) !== 0 };
    });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Failure('usage', `${path} cannot be read: ${code}.`, { about: path, cause });
  }
}

/** A regular file at any path. Undefined if it doesn't exist; /dev/null is empty. */
export async function readPlain(path: string, maxBytes: number): Promise<Buffer | undefined> {
  // Git also skips settings in a home that this user can't enter.
  const found = ifThere(() => statSync(path), [...absent, 'EACCES']);
  if (found === undefined || found.rdev === emptyDevice) return undefined;
  if (!found.isFile()) throw new Error('is not a file');
  return readOpen(path, 0, (file, { size }) => {
    if (size > maxBytes) throw new Error(`has over ${maxBytes / 1e6} MB`);
    return readFileSync(file);
  });
}

const emptyDevice = statSync(devNull, { throwIfNoEntry: false })?.rdev;

/** Doesn't wait for the other end of a pipe. */
function readOpen<Read>(path: string, flags: number, read: (file: number, stats: Stats) => Read): Read {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    return read(file, fstatSync(file));
  } finally {
    closeSync(file);
  }
}
