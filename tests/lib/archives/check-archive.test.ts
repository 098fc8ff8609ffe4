import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { ZipFile as ZipWriter } from 'yazl';
import { checkArchive } from 'registry-rules/archives/check-archive';
import { quote } from 'registry-rules/archives/archive-problem';
import { inMemory } from '../../support/archive-files.ts';
import { fc } from 'testing/properties';
import { readAsStream, readByDirectory } from '../../support/unpackers.ts';
import { sha256 } from '../../support/uploads.ts';
import { described, unicodePath, zip } from 'testing/zip';

const check = async (archive: Buffer) => (await checkArchive(inMemory(archive))).sha256;

async function written(forceZip64Format: boolean): Promise<Buffer> {
  const writer = new ZipWriter();
  writer.addBuffer(Buffer.from('print("hello")\n'), 'node.py', { forceZip64Format });
  writer.addReadStreamLazy('assets/noise.bin', {}, (callback) => {
    callback(null, Readable.from([randomBytes(300_000)]));
  });
  writer.addEmptyDirectory('empty');
  writer.end({ forceZip64Format, comment: '' });
  return buffer(writer.outputStream);
}

const timestamp = Buffer.from([0x55, 0x54, 5, 0, 1, 1, 2, 3, 4]);

describe('checkArchive with a sound archive', () => {
  test.each<[string, Buffer]>([
    ['a single file', zip([{ name: 'node.py', data: 'x' }])],
    ['stored files', zip([{ name: 'node.py', data: 'x', method: 0 }])],
    ['an empty file', zip([{ name: '__init__.py', data: '' }])],
    [
      'folders, plain and deflated',
      zip([{ name: 'a/', method: 0, mode: 0o040755 }, { name: 'b/' }, { name: 'b/c', data: 'x' }]),
    ],
    [
      'a name in UTF-8 without its flag, as macOS writes it',
      zip([{ name: 'späße/ノード.py', flags: 0, data: 'x' }]),
    ],
    ['a comment', zip([{ name: 'node.py', data: 'x', comment: 'a file' }], { comment: 'the archive' })],
    [
      'sizes after the data, with and without a signature',
      zip([described({ name: 'a', data: 'x' }), described({ name: 'b', data: 'y' }, {}, false)]),
    ],
    [
      'one size before the data and all after it, as libarchive and Info-ZIP write to a pipe',
      zip([{ ...described({ name: 'a', data: 'x' }), local: { crc32: 0, packedBytes: 0 } }]),
    ],
    ['sizes before the data and after it', zip([{ ...described({ name: 'a', data: 'x' }), local: {} }])],
    ['a folder with its size after it', zip([described({ name: 'a/' }), { name: 'a/b', data: 'x' }])],
    ['an empty stored file with its size after it', zip([described({ name: 'a', method: 0 })])],
    [
      'a name in UTF-8 without its flag and again in an extra field, as Info-ZIP writes it',
      zip([
        {
          name: 'ä.py',
          flags: 0,
          data: 'x',
          extra: unicodePath('ä.py', 'ä.py'),
          local: { extra: unicodePath('ä.py', 'ä.py') },
        },
      ]),
    ],
    [
      'extra fields that we do not read',
      zip([{ name: 'a', data: 'x', extra: timestamp, local: { extra: timestamp } }]),
    ],
    [
      'a directory in another order than the files',
      zip(
        ['a', 'b', 'c'].map((name) => ({ name, data: name })),
        { isListedBackwards: true },
      ),
    ],
    ['no mode at all', zip([{ name: 'a', data: 'x', mode: 0 }])],
    [
      'the maximum number of entries',
      zip(Array.from({ length: 10_000 }, (_, index) => ({ name: `${index}`, method: 0 }))),
    ],
    ['a file larger than the read window', zip([{ name: 'noise', data: randomBytes(3_000_000) }])],
  ])('accepts %s, and returns the SHA-256 of the archive', async (_, archive) => {
    expect(await check(archive)).toBe(sha256(archive));
  });

  test('accepts an archive written by a zip library', async () => {
    const archive = await written(false);
    expect(await check(archive)).toBe(sha256(archive));
  });

  test('rejects the zip64 format', async () => {
    await expect(check(await written(true))).rejects.toThrow('it uses the zip64 format');
  });
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
        const file = inMemory(bytes);
        const result = await checkArchive(file).catch((error: Error) => error);
        // A stream of the bucket would keep its connection.
        expect(file.isOpen()).toBe(false);
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
