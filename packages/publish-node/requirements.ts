import { readOwnFile } from './files/own-file.ts';

/** A folder's requirements.txt, without comments and pip options. Undefined without the file. */
export async function readRequirements(root: string): Promise<string[] | undefined> {
  const file = await readOwnFile(root, 'requirements.txt').catch(() => undefined);
  return file?.content
    .toString()
    .replace(/^\uFEFF/, '')
    .replaceAll(/\\\r?\n/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)(?:#|--).*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('-'));
}
