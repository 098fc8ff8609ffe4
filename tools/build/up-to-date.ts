import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** What a build reads, with npm's list of the installed packages in place of the packages; and what it makes. */
const folders = ['functions', 'lib', 'tools/build', 'dist'];
const files = ['node_modules/.package-lock.json', 'package.json', 'tsconfig.json'];

/** In dist/: the digest of all of them after the last build. */
export const digestFile = 'build.sha256';

/** Whether dist/ already is what a build would make of these sources. */
export async function isUpToDate(root: string): Promise<boolean> {
  const left = await readFile(join(root, 'dist', digestFile), 'utf8').catch(() => undefined);
  return left !== undefined && left === (await digest(root));
}

export async function rememberBuild(root: string): Promise<void> {
  await writeFile(join(root, 'dist', digestFile), await digest(root));
}

async function digest(root: string): Promise<string> {
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
