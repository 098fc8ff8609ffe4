import { crc32, inflateRawSync } from 'node:zlib';
import { unzip } from '@node-registry/testing/unzip';
import { parseExtraFields } from 'yauzl';
import { sha256 } from './uploads.ts';

/*
 * The two ways in which programs unpack a zip, in their simplest form. Both must get the same published files.
 */

/** By their names. */
type Unpacked = [name: string, sha256: string][];

/** By the directory at the end, as most programs do. */
export async function readByDirectory(archive: Buffer): Promise<Unpacked> {
  return [...(await unzip(archive))].map(([name, data]): Unpacked[number] => [name, sha256(data)]).sort();
}

/** Front to back, like programs that unpack while they download: they never see the directory. */
export function readAsStream(archive: Buffer): Unpacked {
  const files: Unpacked = [];
  for (let at = 0; archive.readUInt32LE(at) === 0x04034b50; ) {
    const [flags, method] = [archive.readUInt16LE(at + 6), archive.readUInt16LE(at + 8)];
    const nameEnd = at + 30 + archive.readUInt16LE(at + 26);
    const dataStart = nameEnd + archive.readUInt16LE(at + 28);
    const name = nameOf(archive.subarray(at + 30, nameEnd), archive.subarray(nameEnd, dataStart));
    const stated = sizesOf(archive, at, archive.subarray(nameEnd, dataStart));
    const { data, packedBytes } = unpack(archive.subarray(dataStart), method, stated);
    files.push([name, sha256(data)]);
    at = dataStart + packedBytes;
    if ((flags & 8) !== 0) at += archive.readUInt32LE(at) === 0x08074b50 ? 16 : 12;
  }
  return files.sort();
}

function nameOf(plain: Buffer, extra: Buffer): string {
  const field = parseExtraFields(extra).find(({ id }) => id === 0x7075);
  const isMeant = field && field.data.readUInt32LE(1) === crc32(plain);
  return isMeant ? field.data.toString('utf8', 5) : plain.toString('utf8');
}

function sizesOf(archive: Buffer, at: number, extra: Buffer): number {
  const field = parseExtraFields(extra).find(({ id }) => id === 1);
  return field ? Number(field.data.readBigUInt64LE(8)) : archive.readUInt32LE(at + 18);
}

function unpack(from: Buffer, method: number, packedBytes: number): { data: Buffer; packedBytes: number } {
  if (method === 0) return { data: from.subarray(0, packedBytes), packedBytes };
  const unpacked = inflateRawSync(from, { info: true }) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  return { data: unpacked.buffer, packedBytes: unpacked.engine.bytesWritten };
}
