import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { checkArchive } from 'registry-rules/archives/check-archive';
import { inMemory } from '../../support/archive-files.ts';
import { readAsStream, readByDirectory } from '../../support/unpackers.ts';
import { sha256 } from '../../support/uploads.ts';
import {
  described,
  describedAfter,
  descriptor,
  unicodePath,
  type ZipFile,
  zip,
  zip64Sizes,
} from 'testing/zip';

/*
 * Programs that unpack while they download never see the directory: to them an archive is its local headers and
 * descriptors. A reviewer who reads the directory and a machine that unpacks the stream must get the same files.
 */

const file: ZipFile = { name: 'node.py', data: 'print("hello")\n' };
const evil = zip([{ name: 'evil.py', data: 'x' }], { directoryBytes: 0 }).subarray(0, 40);
const lying = (local: ZipFile['local']) =>
  zip([
    { ...file, ...(local && { local }) },
    { name: 'b', data: 'y' },
  ]);

/** Stored data with a hidden file: a program that looks for the descriptor ends the data before it. */
function storedWithHiddenFile(): ZipFile {
  const shown = Buffer.from('harmless');
  const hidden = zip([{ name: 'evil.py', data: 'x' }]).subarray(0, 37 + deflateRawSync('x').length);
  const early = descriptor({ name: '', data: shown, method: 0 });
  return described({ name: 'a.txt', method: 0, data: Buffer.concat([shown, early, hidden]) });
}

/** The four bytes whose CRC-32 is the signature of a descriptor. */
const signatureSum = Buffer.from('ac0a7ad5', 'hex');

describe('an archive that unpacks to other files when it is read as a stream', () => {
  test.each<[string, Buffer, string]>([
    [
      'a different size in a zip64 field',
      lying({ bytes: 0xffffffff, packedBytes: 0xffffffff, extra: zip64Sizes(99, 77) }),
      'it uses the zip64 format',
    ],
    ['a zip64 field next to correct sizes', lying({ extra: zip64Sizes(99, 77) }), 'it uses the zip64 format'],
    ['a size left to an absent field', lying({ bytes: 0xffffffff }), 'unpacks to a different size'],
    ['a different packed size', lying({ packedBytes: 3 }), 'unpacks to a different size'],
    ['a different unpacked size', lying({ bytes: 3 }), 'unpacks to a different size'],
    ['a different checksum', lying({ crc32: 1 }), 'is damaged'],
    [
      'no sizes before or after the data',
      lying({ crc32: 0, packedBytes: 0, bytes: 0 }),
      'unpacks to a different size',
    ],
    [
      'a different name in a Unicode field',
      lying({ extra: unicodePath('evil.py', 'node.py') }),
      'has two different names',
    ],
    [
      'a Unicode field for a different plain name',
      lying({ extra: unicodePath('evil.py', 'other') }),
      'has two different names',
    ],
    ['another plain name', lying({ name: 'evil.py' }), 'has two different names'],
    ['a damaged extra field', lying({ extra: Buffer.from([9, 9, 200, 0, 1]) }), 'is damaged'],
    ['the flag of a descriptor that is not there', lying({ flags: describedAfter }), 'is damaged'],
    ['the flag of another encoding', lying({ flags: 0 }), 'is damaged'],
    ['the flag of encryption', lying({ flags: 0x801 }), 'is damaged'],
    ['another method', lying({ method: 0 }), 'is damaged'],
    [
      'a descriptor that only the directory announces',
      zip([{ ...described(file), local: { flags: 0x800 } }]),
      'is damaged',
    ],
    [
      'a Unicode field that only the directory has',
      zip([{ ...file, name: 'ä', flags: 0, extra: unicodePath('ä', 'ä') }]),
      'has two different names',
    ],
    [
      'two Unicode fields',
      zip([
        {
          ...file,
          extra: Buffer.concat([unicodePath('node.py', 'node.py'), unicodePath('b.py', 'node.py')]),
        },
      ]),
      'has two different names',
    ],
    [
      'a Unicode field next to a different name in UTF-8',
      zip([{ ...file, extra: unicodePath('b.py', 'node.py') }]),
      'has two different names',
    ],
    [
      'a Unicode field of a later version',
      zip([{ ...file, extra: unicodePath('node.py', 'node.py', 2) }]),
      'has two different names',
    ],
    [
      'a Unicode field without a name',
      zip([{ ...file, extra: unicodePath('', 'node.py') }]),
      'has two different names',
    ],
    [
      'a missing descriptor that is announced',
      zip([{ ...file, flags: describedAfter }]),
      'bytes that belong to none of its files',
    ],
    [
      'a descriptor of 64 bits',
      zip([{ ...described(file), after: Buffer.alloc(24) }]),
      'bytes that belong to none of its files',
    ],
    [
      'a descriptor that is not announced',
      zip([{ ...file, after: descriptor(file) }]),
      'bytes that belong to none of its files',
    ],
    [
      'a descriptor without its signature',
      zip([{ ...described(file), after: Buffer.alloc(16) }]),
      'bytes that belong to none of its files',
    ],
    ['a descriptor with another checksum', zip([described(file, { crc32: 1 })]), 'is damaged'],
    [
      'a descriptor with a different packed size',
      zip([described(file, { packedBytes: 1 })]),
      'unpacks to a different size',
    ],
    ['a descriptor with another size', zip([described(file, { bytes: 1 })]), 'unpacks to a different size'],
    [
      'different sizes before and after the data',
      zip([{ ...described(file), local: { crc32: 0, packedBytes: 0, bytes: 1 } }]),
      'unpacks to a different size',
    ],
    [
      'no sizes before the data and none announced after it',
      zip([{ ...file, local: { crc32: 0, packedBytes: 0, bytes: 0 } }]),
      'unpacks to a different size',
    ],
    ['stored data whose end is a guess', zip([storedWithHiddenFile()]), 'so its end can only be guessed'],
    [
      'stored data with its size before and after it',
      zip([{ ...described({ ...file, method: 0 }), local: {} }]),
      'so its end can only be guessed',
    ],
    [
      'an empty stored file without its announced descriptor',
      zip([described({ name: 'a', method: 0 }, {}, false)]),
      'bytes that belong to none of its files',
    ],
    [
      'an unlisted file between two others',
      zip([{ ...file, after: evil }, { name: 'b' }]),
      'bytes that belong to none of its files',
    ],
  ])('rejects %s', async (_, archive, reason) => {
    await expect(checkArchive(inMemory(archive))).rejects.toThrow(reason);
  });

  test('rejects a checksum that can be read as the signature of a descriptor', async () => {
    const data = signatureSum;
    expect(crc32(data)).toBe(0x08074b50);
    const sound = zip([described({ name: 'a', data })]);

    expect((await checkArchive(inMemory(sound))).sha256).toMatch(/^[0-9a-f]{64}$/);
    await expect(checkArchive(inMemory(zip([described({ name: 'a', data }, {}, false)])))).rejects.toThrow(
      'bytes that belong to none of its files',
    );
  });
});

test('hides the hidden file of the fixture from the directory', async () => {
  const archive = zip([storedWithHiddenFile()]);

  expect((await readByDirectory(archive)).map(([name]) => name)).toEqual(['a.txt']);
  expect(archive.includes('evil.py')).toBe(true);
});

test('checkArchive accepts an archive that unpacks to the same files by its directory and as a stream', async () => {
  const archive = zip([file, described({ name: 'a/' }), described({ name: 'a/b', data: 'x' }, {}, false)]);

  expect((await checkArchive(inMemory(archive))).sha256).toBe(sha256(archive));
  expect(readAsStream(archive)).toEqual(await readByDirectory(archive));
});
