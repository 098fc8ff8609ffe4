import { writeFile } from 'node:fs/promises';
import { Failure } from './failure.ts';

const reasons: Record<string, string> = {
  EACCES: 'its parent is not writable',
  EROFS: 'its parent is not writable',
  EEXIST: 'a file is in the way',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its parent is a file',
  ENOSPC: 'the disk is full',
};

export function reasonOf(error: unknown): string {
  const { code } = Object(error) as { code?: string };
  return reasons[code ?? ''] ?? String(error);
}

/** Writes an archive, never over another file. */
export async function writeNew(file: string, archive: Uint8Array): Promise<void> {
  await writeFile(file, archive, { flag: 'wx' }).catch((cause) => {
    const sentence =
      cause.code === 'EEXIST'
        ? `${file} exists. Name a new file with --output.`
        : `${file} cannot be written: ${reasonOf(cause)}.`;
    throw new Failure('usage', sentence, { about: '--output', cause });
  });
}
