import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { decodeText, maxTextFileBytes, textFilesIn } from '@node-registry/host-nodes/text-files';
import type { ArchiveFile } from '@node-registry/registry-rules/archives/archive-file';
import { openArchive } from './published-archive.ts';

const inflate = promisify(inflateRaw);

/**
 * The names of an archive's files, and the content of the text files. Reads only text files, in archive
 * order, so most of an archive full of images is never fetched.
 */
export async function readTextFiles(archive: ArchiveFile): Promise<Map<string, string | undefined>> {
  const { files, read } = await openArchive(archive);
  const texts = new Map<string, string | undefined>();
  const inOrder = files.toSorted((a, b) => a.offset - b.offset);
  const chosen = textFilesIn(inOrder.map(({ name, bytes }) => ({ path: name, bytes })));
  for (const file of inOrder) {
    const isRead = chosen.has(file.name) && file.packedBytes <= maxTextFileBytes;
    const packed = isRead ? await read(file) : undefined;
    texts.set(file.name, packed && decodeText(file.name, file.isStored ? packed : await unpacked(packed)));
  }
  return texts;
}

const unpacked = (packed: Buffer) => inflate(packed, { maxOutputLength: maxTextFileBytes });
