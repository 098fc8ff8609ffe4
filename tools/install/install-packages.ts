import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Installs the packages of a folder's own lock file if they are missing: those that few runs need. */
export async function installPackages(folder: string): Promise<void> {
  const [wanted, installed] = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map(async (name) =>
      stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  if (Number(installed) >= Number(wanted) && installed !== 0) return;
  process.stderr.write(`Installing the packages of ${folder}, once.\n`);
  await promisify(execFile)('npm', ['ci'], { cwd: folder });
}
