import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** What a build reads, with npm's list of the installed packages in place of the packages. */
const sourceFolders = ['functions', 'lib', 'packages/host-nodes', 'packages/registry-rules', 'infra/bundle'];
const sourceFiles = ['node_modules/.package-lock.json', 'package.json', 'tsconfig.json'];

/** In dist/: the digests of what the last build read, and of what it made. */
export const digestFile = 'build.sha256';

/** Whether dist/ already is what a build would make of these sources. */
export async function isUpToDate(root: string): Promise<boolean> {
  const left = await readFile(join(root, 'dist', digestFile), 'utf8').catch(() => undefined);
  return left !== undefined && left === (await recordOf(root, await digestSources(root)));
}

/** To be taken before a build reads them: what is saved meanwhile may not be in it. */
export function digestSources(root: string): Promise<string> {
  return digest(root, sourceFolders, sourceFiles);
}

export async function rememberBuild(root: string, sources: string): Promise<void> {
  await writeFile(join(root, 'dist', digestFile), await recordOf(root, sources));
}

async function recordOf(root: string, sources: string): Promise<string> {
  return `${sources} ${await digest(root, ['dist'], [])}\n`;
}

async function digest(root: string, folders: readonly string[], files: readonly string[]): Promise<string> {
  const listed = await Promise.all(folders.map((folder) => filesIn(root, folder)));
  const names = [...files, ...listed.flat().sort()];
  const contents = await Promise.all(names.map((name) => readFile(join(root, name)).catch(() => 'absent')));
  const hash = createHash('sha256');
  contents.forEach((bytes, index) => {
    hash.update(`${names[index]} ${bytes.length} `).update(bytes);
  });
  return hash.digest('hex');
}

async function filesIn(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name !== digestFile)
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
