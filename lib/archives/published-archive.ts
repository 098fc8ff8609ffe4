import { fromRandomAccessReaderPromise } from 'yauzl';
import {
  type ArchiveFile,
  ArchiveReader,
  localHeader,
} from '@node-registry/registry-rules/archives/archive-file';
import { isFolderName } from '@node-registry/registry-rules/archives/names';

/** A file in an archive that was checked before it was published. */
export interface ArchivedFile {
  name: string;
  bytes: number;
  packedBytes: number;
  isStored: boolean;
  offset: number;
}

interface PublishedArchive {
  files: ArchivedFile[];
  /** The packed data of a file, or their beginning. */
  read: (file: ArchivedFile, maxBytes?: number) => Promise<Buffer>;
}

/** Reads only the archive's directory, and then what it is asked for. */
export async function openArchive(file: ArchiveFile): Promise<PublishedArchive> {
  const reader = new ArchiveReader(file);
  const options = { decodeStrings: false, validateEntrySizes: false, autoClose: false };
  const zip = await fromRandomAccessReaderPromise(reader, file.sizeBytes, options);
  const entries = await Array.fromAsync(zip.eachEntry(), (entry) => ({
    // The check accepts only names that are UTF-8, even if they aren't marked as that.
    name: entry.fileNameRaw.toString('utf8'),
    bytes: entry.uncompressedSize,
    packedBytes: entry.compressedSize,
    isStored: entry.compressionMethod === 0,
    offset: entry.relativeOffsetOfLocalHeader,
  }));
  const read = async ({ offset, packedBytes }: ArchivedFile, maxBytes = packedBytes) => {
    const header = await reader.bytesAt(offset, localHeader.bytes);
    const start = offset + localHeader.bytes + header.readUInt16LE(26) + header.readUInt16LE(28);
    return reader.bytesAt(start, Math.min(packedBytes, maxBytes));
  };
  return { files: entries.filter(({ name }) => !isFolderName(name)), read };
}
