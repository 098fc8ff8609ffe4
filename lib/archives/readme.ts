import { createInflateRaw } from 'node:zlib';
import type { ArchiveFile } from '@node-registry/registry-rules/archives/archive-file';
import { type ArchivedFile, openArchive } from './published-archive.ts';

export interface Readme {
  /** Its name in the archive; the ending gives the text's format. */
  path: string;
  text: string;
  isCut: boolean;
}

const maxReadmeBytes = 200_000;
/** Deflate makes incompressible data only slightly larger. */
const maxPackedBytes = maxReadmeBytes + 1000;

/** Editors on Windows may write it. */
const utf16Mark = Buffer.from([0xff, 0xfe]);

/** Best first. The last one has no ending. */
const names = ['readme.md', 'readme.markdown', 'readme.rst', 'readme.txt', 'readme'];

/**
 * The README of a checked archive: the beginning of its text, if the README is at the root or in the only
 * folder there. Reads only the archive's directory and this file.
 */
export async function readReadme(archive: ArchiveFile): Promise<Readme | undefined> {
  const { files, read } = await openArchive(archive);
  const file = findReadme(files);
  if (!file) return undefined;
  const packed = await read(file, maxPackedBytes);
  const bytes = file.isStored ? packed.subarray(0, maxReadmeBytes) : await inflateStart(packed);
  const isCut = bytes.length < file.bytes;
  const encoding = bytes.subarray(0, 2).equals(utf16Mark) ? 'utf-16le' : 'utf-8';
  // With `stream`, the decoder drops a character that was cut in half instead of replacing it.
  const text = new TextDecoder(encoding).decode(bytes, { stream: isCut });
  return { path: file.name, text, isCut };
}

function findReadme(files: readonly ArchivedFile[]): ArchivedFile | undefined {
  const folders = new Set(files.map(({ name }) => name.slice(0, name.indexOf('/') + 1)));
  const [root = ''] = folders.size === 1 ? folders : [];
  const byName = new Map(files.map((file) => [file.name.slice(root.length).toLowerCase(), file]));
  return names.map((name) => byName.get(name)).find((file) => file !== undefined);
}

async function inflateStart(packed: Buffer): Promise<Buffer> {
  const inflater = createInflateRaw();
  inflater.end(packed);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of inflater) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxReadmeBytes) break;
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!code.startsWith('Z_')) throw error;
    // The packed bytes were cut as well. A README that is damaged must not stop the index.
    if (code !== 'Z_BUF_ERROR') return Buffer.alloc(0);
  }
  return Buffer.concat(chunks).subarray(0, maxReadmeBytes);
}
