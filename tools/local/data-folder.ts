import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Claim {
  stop: () => Promise<void>;
}

/**
 * Reserves a data folder for one stack, because two would overwrite each other's database and objects. Resolves with
 * the function that frees it. A stack that was killed leaves the id of a process behind that no longer exists.
 */
export async function claimFolder(directory: string, { fresh }: { fresh: boolean }): Promise<Claim> {
  const file = join(directory, 'stack.pid');
  const owner = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (owner !== 0 && isRunning(owner))
    throw new Error(
      `The data in ${directory} is in use by another local stack (process ${owner}). Stop it, or set LOCAL_DIRECTORY to another folder.`,
    );
  await rm(fresh ? directory : file, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  // If two start at the same time, one of them fails here.
  await writeFile(file, String(process.pid), { flag: 'wx' });
  return { stop: () => rm(file, { force: true }) };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signaled, but it exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
