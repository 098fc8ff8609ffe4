import { readOwnFile } from './files/own-file.ts';

/** What requirements.txt of a folder names, without its comments and its options for pip. Undefined without the file. */
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
