import { fromRandomAccessReaderPromise } from 'yauzl';
import { type ArchiveReader, localHeader, OutsideFile } from './archive-file.ts';
import { ArchiveProblem, encrypted, zip64 } from './archive-problem.ts';
import { type ArchiveEntry, archiveEntry, isFolder } from './entry.ts';
import { archiveLimits } from './limits.ts';
import { findClashes, findGitFolders } from './names.ts';

/** The archive's directory: its entries, and the offset of their list. */
export interface Directory {
  entries: ArchiveEntry[];
  start: number;
}

const endRecord = 0x06054b50;
const endSignature = Buffer.from('PK\x05\x06');
const zip64Locator = 0x07064b50;
const endRecordBytes = 22;
const zip64LocatorBytes = 20;
const entryHeaderBytes = 46;

/**
 * Reads and checks the zip's central directory. Programs read an inconsistent archive differently, so one may
 * show other files than another one runs. Therefore everything ambiguous is rejected.
 */
export async function readDirectory(reader: ArchiveReader): Promise<Directory> {
  try {
    await checkBeginning(reader);
    return await readEntries(reader);
  } catch (error) {
    if (reader.failure !== undefined) throw reader.failure;
    throw error instanceof ArchiveProblem ? error : problemOf(error);
  }
}

async function checkBeginning(reader: ArchiveReader): Promise<void> {
  const { sizeBytes } = reader.file;
  if (sizeBytes === 0) throw new ArchiveProblem('it is empty, zero bytes. Upload the zip itself.');
  const signature = sizeBytes < endRecordBytes ? 0 : (await reader.bytesAt(0, 4)).readUInt32LE();
  if (signature === endRecord) throw noFiles();
  if (signature !== localHeader.signature) {
    throw new ArchiveProblem(
      'it is not a zip file. Pack the folder as a plain .zip, without anything before it.',
    );
  }
}

async function readEntries(reader: ArchiveReader): Promise<Directory> {
  const { sizeBytes } = reader.file;
  const options = { decodeStrings: false, validateEntrySizes: false, autoClose: false };
  const zip = await fromRandomAccessReaderPromise(reader, sizeBytes, options);
  const end = sizeBytes - endRecordBytes - zip.comment.length;
  if (end >= zip64LocatorBytes) {
    const before = await reader.bytesAt(end - zip64LocatorBytes, 4);
    if (before.readUInt32LE() === zip64Locator) throw zip64();
  }
  if (zip.entryCount > archiveLimits.entries) {
    throw new ArchiveProblem(
      `it has ${zip.entryCount} files and folders, and ${archiveLimits.entries} are allowed. Leave some out.`,
    );
  }
  const start = Number(zip.readEntryCursor);
  const entries: ArchiveEntry[] = [];
  let position = start;
  for await (const entry of zip.eachEntry()) {
    entries.push(archiveEntry(entry));
    position += entryHeaderBytes + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
  }
  // With its comment, in which the zip reader does not look for a cut one.
  const record = await reader.bytesAt(end, sizeBytes - end);
  if (record.includes(endSignature, 1)) throw dataAfterEnd();
  if (position !== end || !isWholeDirectory(record, zip.entryCount, end - start)) {
    throw new ArchiveProblem('it states a different number of files than it has. Make the zip again.');
  }
  if (entries.some(({ offset }) => offset >= start)) throw leadsOutside();
  checkWhole(entries, sizeBytes);
  return { entries, start };
}

/** Some programs rely on the directory's size, or on its number of entries on this one of several disks. */
function isWholeDirectory(record: Buffer, entries: number, bytes: number): boolean {
  return (
    record.readUInt16LE(6) === 0 && record.readUInt16LE(8) === entries && record.readUInt32LE(12) === bytes
  );
}

function checkWhole(entries: readonly ArchiveEntry[], sizeBytes: number): void {
  if (entries.every(isFolder)) throw noFiles();
  checkTogether(entries.map(({ name }) => name));
  if (entries.some(({ name, olderName }) => name !== olderName)) {
    checkTogether(entries.map(({ olderName }) => olderName));
  }
  const unpacked = entries.reduce((total, { bytes }) => total + bytes, 0);
  if (unpacked > archiveLimits.unpackedBytes) {
    throw new ArchiveProblem(
      `it unpacks to ${unpacked} bytes, and ${archiveLimits.unpackedBytes} are allowed. Leave large files out.`,
    );
  }
  if (unpacked > sizeBytes * archiveLimits.unpackedRatio) {
    throw new ArchiveProblem(
      `it unpacks to more than ${archiveLimits.unpackedRatio} times its size. Leave out files that are mostly empty.`,
    );
  }
}

function checkTogether(names: readonly string[]): void {
  for (const { problem } of findClashes(names)) throw problem;
  for (const { problem } of findGitFolders(names)) throw problem;
}

function noFiles(): ArchiveProblem {
  return new ArchiveProblem('it contains no files. Zip the folder with its content.');
}

function dataAfterEnd(): ArchiveProblem {
  return new ArchiveProblem('there is data after its end. Make the zip without appending to it.');
}

function leadsOutside(): ArchiveProblem {
  return new ArchiveProblem(
    'its list of files points outside the archive. Make the zip again, and upload the whole file.',
  );
}

/** The zip reader's own errors have no codes. An unknown error text means a damaged list. */
function problemOf(error: unknown): ArchiveProblem {
  if (error instanceof OutsideFile) return leadsOutside();
  const text = error instanceof Error ? error.message : '';
  if (text.includes('encryption')) return encrypted();
  if (text.startsWith('End of central directory')) {
    return new ArchiveProblem('it ends too early, like an interrupted upload. Upload the whole file.');
  }
  if (text.startsWith('Invalid comment length')) return dataAfterEnd();
  if (text.startsWith('multi-disk')) {
    return new ArchiveProblem('it is one part of a split archive. Make it one file.');
  }
  return new ArchiveProblem('its list of files is damaged. Make the zip again.', { cause: error });
}
