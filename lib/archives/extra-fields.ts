import { crc32 } from 'node:zlib';
import type { ExtraField } from 'yauzl';
import { twoNames, zip64 } from './archive-problem.ts';

const ids = { zip64: 0x0001, unicodePath: 0x7075 } as const;
const unicodePathHeaderBytes = 5;

/**
 * The name in an entry's extra fields. Extra fields can also state other sizes and another offset than the header. Both
 * are rejected, because not every program reads them.
 */
export function unicodeNameOf(fields: readonly ExtraField[], plainName: Buffer): string | undefined {
  if (fields.some(({ id }) => id === ids.zip64)) throw zip64();
  const [field, another] = fields.filter(({ id }) => id === ids.unicodePath);
  if (!field) return undefined;
  const { data } = field;
  // A field with another checksum was made for another name. Some programs ignore it, and some do not.
  const isMeant =
    data.length > unicodePathHeaderBytes && data[0] === 1 && data.readUInt32LE(1) === crc32(plainName);
  if (another || !isMeant) throw twoNames(plainName.toString('utf8'));
  return data.toString('utf8', unicodePathHeaderBytes);
}
