import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Claim {
  stop: () => Promise<void>;
}

/**
 * Keeps a folder of data to one stack: two would write to one database and one store of objects behind each other's
 * back. Resolves with what gives it free; a stack that was killed leaves a number behind that no process has.
 */
export async function claimFolder(directory: string, { fresh }: { fresh: boolean }): Promise<Claim> {
  const file = join(directory, 'stack.pid');
  const owner = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (owner !== 0 && isRunning(owner))
    throw new Error(
      `The data in ${directory} belongs to a local stack that runs (process ${owner}). Stop it, or set LOCAL_DIRECTORY to another folder.`,
    );
  await rm(fresh ? directory : file, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  // Of two that start at the same time one fails here.
  await writeFile(file, String(process.pid), { flag: 'wx' });
  return { stop: () => rm(file, { force: true }) };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signaled, but it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
