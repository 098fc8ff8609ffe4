import { randomBytes } from 'node:crypto';
import { posix, win32 } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { ZipFile as ZipWriter } from 'yazl';
import { checkArchive } from '../../../lib/archives/check-archive.ts';
import { quote } from '../../../lib/archives/archive-problem.ts';
import { checkName } from '../../../lib/archives/names.ts';
import { inMemory } from '../../support/archive-files.ts';
import { fc } from '../../support/properties.ts';
import { sha256 } from '../../support/uploads.ts';
import { zip } from '../../support/zip.ts';

const judge = (archive: Buffer) => checkArchive(inMemory(archive));

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

const descriptor = (bytes: number) => Buffer.alloc(bytes);

describe('a sound archive is accepted, and its digest is that of its bytes', () => {
  test.each<[string, Buffer]>([
    ['a single file', zip([{ name: 'node.py', data: 'x' }])],
    ['stored files', zip([{ name: 'node.py', data: 'x', method: 0 }])],
    ['an empty file', zip([{ name: '__init__.py', data: '' }])],
    [
      'folders, plain and deflated',
      zip([{ name: 'a/', method: 0, mode: 0o040755 }, { name: 'b/' }, { name: 'b/c', data: 'x' }]),
    ],
    [
      'names of any script',
      zip([
        { name: 'späße/ノード.py', data: 'x' },
        { name: '🦊.json', data: '{}' },
      ]),
    ],
    ['names in an old encoding', zip([{ name: Buffer.from([0x63, 0x61, 0x66, 0x82]), flags: 0, data: 'x' }])],
    ['names with spaces', zip([{ name: 'my node/read me.py', data: 'x' }])],
    ['names with two dots that lead nowhere', zip([{ name: '..a/b..c/...', data: 'x' }])],
    ['a comment', zip([{ name: 'node.py', data: 'x', comment: 'a file' }], { comment: 'the archive' })],
    [
      'sizes behind the data',
      zip([{ name: 'a', data: 'x', flags: 0x808, after: descriptor(16) }, { name: 'b' }]),
    ],
    ['a size that stands in an extra field', zip([{ name: 'a', data: 'x', local: { bytes: 0xffffffff } }])],
    [
      'files listed in another order than they lie',
      zip(
        ['a', 'b', 'c'].map((name) => ({ name, data: name })),
        { isListedBackwards: true },
      ),
    ],
    ['a name of 1,000 characters', zip([{ name: 'x'.repeat(1000), data: 'x' }])],
    ['no mode at all', zip([{ name: 'a', data: 'x', mode: 0 }])],
    [
      'as many entries as are allowed',
      zip(Array.from({ length: 10_000 }, (_, index) => ({ name: `${index}`, method: 0 }))),
    ],
    ['a file larger than any window', zip([{ name: 'noise', data: randomBytes(3_000_000) }])],
  ])('%s', async (_, archive) => {
    expect(await judge(archive)).toBe(sha256(archive));
  });

  test('as a zip library writes it', async () => {
    const archive = await written(false);
    expect(await judge(archive)).toBe(sha256(archive));
  });

  test('but not in the zip64 format', async () => {
    await expect(judge(await written(true))).rejects.toThrow('it uses the zip64 format');
  });
});

describe('any bytes at all', () => {
  test('are accepted or refused with a sentence, and never fail in another way', async () => {
    const longExtraAndFarOffset = [
      { at: 67, to: 1 },
      { at: 254, to: 1 },
    ];
    const base = zip([
      { name: 'a.py', data: 'x'.repeat(50) },
      { name: 'b/', method: 0 },
      { name: 'b/c.py', data: deflateRawSync('y') },
    ]);
    let refused = 0;
    const change = fc.record({ at: fc.nat(base.length - 1), to: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(base);
        for (const { at, to } of changes) bytes[at] = to;
        const outcome = await judge(bytes).catch((error: Error) => error);
        if (outcome instanceof Error) {
          refused += 1;
          expect(outcome).toMatchObject({ name: 'ArchiveProblem' });
        } else expect(outcome).toBe(sha256(bytes));
      }),
      { numRuns: 200, examples: [[longExtraAndFarOffset]] },
    );
    expect(refused).toBeGreaterThan(50);
  }, 60_000);

  test('a name that is accepted stays inside its folder on every system', () => {
    const segment = fc.constantFrom('..', '.', '', 'a', 'C:', '\\', '/', '..\\', '\0', 'ü');
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), fc.constantFrom('', '/'), (segments, separator) => {
        const name = segments.join(separator);
        try {
          checkName(name);
        } catch {
          return;
        }
        expect(posix.resolve('/safe', name)).toMatch(/^\/safe\/./);
        expect(win32.resolve('D:\\safe', name)).toMatch(/^D:\\safe\\./);
      }),
      { numRuns: 2000 },
    );
  });

  test('a name is shown short and without control characters', () => {
    expect(quote(`a\n\u202e${'b'.repeat(300)}`)).toBe(`"a??${'b'.repeat(97)}…"`);
    expect(quote('\u2028 ü\u2029')).toBe('"? ü?"');
    expect(quote('b'.repeat(100))).toBe(`"${'b'.repeat(100)}"`);
  });
});
