import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { decodeText, maxTextFileBytes, textFilesIn } from '@node-registry/host-nodes/text-files';
import {
  type ArchiveFile,
  ArchiveReader,
  dataStart,
} from '@node-registry/registry-rules/archives/archive-file';
import { readDirectory } from '@node-registry/registry-rules/archives/directory';
import { type ArchiveEntry, isFolder, isStored } from '@node-registry/registry-rules/archives/entry';

const inflate = promisify(inflateRaw);

/**
 * The names of an archive's files, and the content of the text files. Reads only text files, in archive
 * order, so most of an archive full of images is never fetched. The archive has been checked before.
 */
export async function readTextFiles(file: ArchiveFile): Promise<Map<string, string | undefined>> {
  const { entries } = await readDirectory(file);
  const reader = new ArchiveReader(file);
  const files = new Map<string, string | undefined>();
  const inOrder = entries.toSorted((a, b) => a.offset - b.offset).filter((entry) => !isFolder(entry));
  const chosen = textFilesIn(inOrder.map(({ name, bytes }) => ({ path: name, bytes })));
  for (const entry of inOrder)
    files.set(entry.name, chosen.has(entry.name) ? await readText(reader, entry) : undefined);
  return files;
}

async function readText(reader: ArchiveReader, entry: ArchiveEntry): Promise<string | undefined> {
  if (entry.packedBytes > maxTextFileBytes) return undefined;
  const start = await dataStart(reader, entry.offset);
  if (entry.packedBytes === 0) return '';
  const packed = await reader.bytesAt(start, entry.packedBytes);
  const bytes = isStored(entry) ? packed : await inflate(packed, { maxOutputLength: maxTextFileBytes });
  return decodeText(entry.name, bytes);
}
