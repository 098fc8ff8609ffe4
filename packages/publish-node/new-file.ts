import { constants } from 'node:fs';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { Failure } from './failure.ts';

const reasons: Record<string, string> = {
  EACCES: 'it may not be written there',
  EPERM: 'it may not be written there',
  EROFS: 'it may not be written there',
  EEXIST: 'a file is in the way',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its parent is a file',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
};

export function reasonOf(error: unknown): string {
  const { code } = Object(error) as { code?: string };
  return reasons[code ?? ''] ?? String(error);
}

const { O_WRONLY, O_APPEND, O_NOFOLLOW = 0 } = constants;

/** Writes a new file, or appends to one of `size` bytes, never through a link created meanwhile. */
export async function write(file: string, content: Uint8Array | string, size?: number) {
  const flag = size === undefined ? 'wx' : O_WRONLY | O_APPEND | O_NOFOLLOW;
  await writeFile(file, content, { flag }).catch(async (cause) => {
    // Half of it is worse than nothing.
    if (cause.syscall === 'write')
      await (size === undefined ? rm(file, { force: true }) : truncate(file, size));
    const sentence =
      cause.code === 'EEXIST'
        ? `${file} exists. Name a new file with --output.`
        : `${file} cannot be written: ${reasonOf(cause)}.`;
    throw new Failure('usage', sentence, { about: file, cause });
  });
}
