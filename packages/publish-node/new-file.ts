import { rm, writeFile } from 'node:fs/promises';
import { Failure } from './failure.ts';

const reasons: Record<string, string> = {
  EACCES: 'it may not be written there',
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

/** Writes a file, by default never over another one. */
export async function write(file: string, content: Uint8Array | string, flag: string | number = 'wx') {
  await writeFile(file, content, { flag }).catch(async (cause) => {
    // Half of a new file is worse than none.
    if (flag === 'wx' && cause.syscall === 'write') await rm(file, { force: true });
    const sentence =
      cause.code === 'EEXIST'
        ? `${file} exists. Name a new file with --output.`
        : `${file} cannot be written: ${reasonOf(cause)}.`;
    throw new Failure('usage', sentence, { about: file, cause });
  });
}
