import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
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
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(join(root, place), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((cause) => {
    throw new Failure('usage', `${path} cannot be read: ${cause.code}.`, { about: path, cause });
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    return { content: await file.readFile(), isExecutable: (stats.mode & 0o100) !== 0 };
  } finally {
    await file.close();
  }
}
