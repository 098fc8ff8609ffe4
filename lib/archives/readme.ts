import { createInflateRaw } from 'node:zlib';
import {
  type ArchiveFile,
  ArchiveReader,
  dataStart,
} from '@node-registry/registry-rules/archives/archive-file';
import { ArchiveProblem } from '@node-registry/registry-rules/archives/archive-problem';
import { readDirectory } from '@node-registry/registry-rules/archives/directory';
import { type ArchiveEntry, isFolder, isStored } from '@node-registry/registry-rules/archives/entry';

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
export async function readReadme(file: ArchiveFile): Promise<Readme | undefined> {
  try {
    return await readText(file);
  } catch (error) {
    // The archive was published under other limits, or its README is not packed as the directory says.
    const isDamaged = error instanceof ArchiveProblem || /^Z_/.test(String(Object(error).code));
    if (isDamaged) return undefined;
    throw error;
  }
}

async function readText(file: ArchiveFile): Promise<Readme | undefined> {
  const { entries: all } = await readDirectory(file);
  const entries = all.filter((entry) => !isFolder(entry));
  const entry = findReadme(entries);
  if (!entry) return undefined;
  const reader = new ArchiveReader(file);
  const start = await dataStart(reader, entry.offset);
  const packedBytes = Math.min(entry.packedBytes, maxPackedBytes);
  const packed = packedBytes === 0 ? Buffer.alloc(0) : await reader.bytesAt(start, packedBytes);
  const bytes = isStored(entry) ? packed.subarray(0, maxReadmeBytes) : await inflateStart(packed);
  const isCut = bytes.length < entry.bytes;
  const encoding = bytes.subarray(0, 2).equals(utf16Mark) ? 'utf-16le' : 'utf-8';
  // With `stream`, the decoder drops a character that was cut in half instead of replacing it.
  const text = new TextDecoder(encoding).decode(bytes, { stream: isCut });
  return { path: entry.name, text, isCut };
}

function findReadme(entries: readonly ArchiveEntry[]): ArchiveEntry | undefined {
  const folders = new Set(entries.map(({ name }) => name.slice(0, name.indexOf('/') + 1)));
  const [root = ''] = folders.size === 1 ? folders : [];
  const byName = new Map(entries.map((entry) => [entry.name.slice(root.length).toLowerCase(), entry]));
  return names.map((name) => byName.get(name)).find((entry) => entry !== undefined);
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
    // The packed bytes were cut as well.
    if ((error as NodeJS.ErrnoException).code !== 'Z_BUF_ERROR') throw error;
  }
  return Buffer.concat(chunks).subarray(0, maxReadmeBytes);
}
