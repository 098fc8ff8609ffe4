import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { checkArchive } from '@node-registry/registry-rules/archives/check-archive';
import { quote } from '@node-registry/registry-rules/archives/archive-problem';
import { inMemory } from '../../support/archive-files.ts';
import { fc } from '@node-registry/testing/properties';
import { readAsStream, readByDirectory } from '../../support/unpackers.ts';
import { sha256 } from '../../support/uploads.ts';
import { described, unicodePath, type ZipFile, zip } from '@node-registry/testing/zip';

const check = async (archive: Buffer) => (await checkArchive(inMemory(archive))).sha256;

const timestamp = Buffer.from([0x55, 0x54, 5, 0, 1, 1, 2, 3, 4]);

const file = { name: 'node.py', data: 'x' };
const nameTwice = unicodePath('ä.py', 'ä.py');
const systems = [0x0014, 0x0314, 0x031e, 0x0a14, 0x0b17, 0x0e14, 0x1314];
const folder = { name: 'a/', mode: 0o040755, attributes: 0x10 };
const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `${index}`, method: 0 }));
/** The four bytes whose CRC-32 is the signature of a descriptor. */
const signatureSum = Buffer.from('ac0a7ad5', 'hex');

const sound: Record<string, ZipFile[]> = {
  'a single file': [file],
  'stored files': [{ ...file, method: 0 }],
  'an empty file': [{ name: '__init__.py', data: '' }],
  'folders, plain and deflated': [
    { ...folder, method: 0, attributes: 0 },
    { name: 'b/' },
    { ...file, name: 'b/c' },
  ],
  'a name in UTF-8 without its flag, as macOS writes it': [{ ...file, name: 'späße/ノード.py', flags: 0 }],
  'a comment of a file': [{ ...file, comment: 'a file' }],
  'sizes after the data, with and without a signature': [
    described({ name: 'a', data: 'x' }),
    described({ name: 'b', data: 'y' }, {}, false),
    described({ name: 'c/' }),
  ],
  'one size before the data and all after it, as libarchive and Info-ZIP write to a pipe': [
    { ...described(file), local: { crc32: 0, packedBytes: 0 } },
  ],
  'sizes before the data and after it': [{ ...described(file), local: {} }],
  'an empty stored file with its size after it': [described({ name: 'a', method: 0 })],
  'a checksum that can be read as the signature of a descriptor': [
    described({ name: 'a', data: signatureSum }),
  ],
  'a name in UTF-8 without its flag and again in an extra field, as Info-ZIP writes it': [
    { name: 'ä.py', flags: 0, data: 'x', extra: nameTwice, local: { extra: nameTwice } },
  ],
  'extra fields that we do not read': [{ ...file, extra: timestamp, local: { extra: timestamp } }],
  'no mode at all': [{ ...file, mode: 0 }],
  'the maximum number of entries': many,
  'a file larger than the read window': [{ name: 'noise', data: randomBytes(3_000_000) }],
  'read-only, hidden and archived files, and a folder': [{ ...file, attributes: 0x23 }, folder],
  'a name of 254 bytes that is marked as UTF-8': [{ ...file, name: 'ä'.repeat(127) }],
  'a name that is not marked as UTF-8, from macOS': [{ ...file, name: 'ä.py', flags: 0, madeBy: 0x1314 }],
  ...Object.fromEntries(systems.map((madeBy) => [`an entry made by ${madeBy}`, [{ ...file, madeBy }]])),
  ...Object.fromEntries(
    [10, 20, 45].map((versionNeeded) => [`version ${versionNeeded}`, [{ ...file, versionNeeded }]]),
  ),
  ...Object.fromEntries(
    [2, 4, 6].map((flag) => [`flags of deflating: ${flag}`, [{ ...file, flags: 0x800 | flag }]]),
  ),
  ...Object.fromEntries(
    // As jar and Windows write them. What unzip makes ASCII of is accepted from Unix only.
    ['ä.py', '日本/ノ.py', '\u0118ä', '🦊.json'].map((name) => [
      `${name} from DOS`,
      [{ ...file, name, madeBy: 0x0014 }],
    ]),
  ),
  'names from Unix that would be others from DOS': [
    { ...file, name: '\u0718\u0718\u0558nit__.py' },
    { ...file, name: 'a/\u0118/b' },
  ],
};

describe('checkArchive with a sound archive', () => {
  test.each([
    ...Object.entries(sound).map(([label, files]) => [label, zip(files)] as const),
    ['a comment of the archive', zip([file], { comment: 'the archive' })],
    [
      'a directory in another order than the files',
      zip([file, { name: 'b' }, { name: 'c' }], { isListedBackwards: true }),
    ],
  ])('accepts %s, and returns the SHA-256 of the archive', async (_, archive) => {
    expect(await check(archive)).toBe(sha256(archive));
  });
});

test('checkArchive rejects an archive above the maximum size without reading it', async () => {
  const gone = new Error('There is nothing to read.');
  const fail = () => Promise.reject(gone);
  const ofBytes = (sizeBytes: number) => checkArchive({ sizeBytes, read: fail, stream: fail });

  await expect(ofBytes(100_000_001)).rejects.toThrow('it has 100000001 bytes, and 100000000 are allowed.');
  await expect(ofBytes(100_000_000)).rejects.toBe(gone);
});

describe('checkArchive with any bytes', () => {
  test('accepts them or rejects them with an ArchiveProblem, and never fails in another way', async () => {
    const longExtraAndFarOffset = [
      { at: 67, to: 1 },
      { at: 254, to: 1 },
    ];
    const base = zip([
      { name: 'a.py', data: 'x'.repeat(50) },
      { name: 'b/', method: 0 },
      described({ name: 'b/c.py', data: 'y'.repeat(9) }),
    ]);
    let rejected = 0;
    const change = fc.record({ at: fc.nat(base.length - 1), to: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(base);
        for (const { at, to } of changes) bytes[at] = to;
        const result = await checkArchive(inMemory(bytes)).catch((error: Error) => error);
        if (result instanceof Error) {
          rejected += 1;
          expect(result).toMatchObject({ name: 'ArchiveProblem' });
        } else {
          expect(result.sha256).toBe(sha256(bytes));
          expect(readAsStream(bytes)).toEqual(await readByDirectory(bytes));
        }
      }),
      { numRuns: 200, examples: [[longExtraAndFarOffset]] },
    );
    expect(rejected).toBeGreaterThan(50);
  });

  test('quotes a name short and without control characters', () => {
    expect(quote(`a\n\u202e${'b'.repeat(300)}`)).toBe(`"a??${'b'.repeat(97)}…"`);
    expect(quote('\u2028 ü\u2029')).toBe('"? ü?"');
    expect(quote('\u034f\u3164\u2800\ufff9\u115f\u200b')).toBe('"??????"');
    expect(quote('b'.repeat(100))).toBe(`"${'b'.repeat(100)}"`);
  });
});
