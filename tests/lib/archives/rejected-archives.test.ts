import { randomBytes } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { checkArchive } from '@node-registry/registry-rules/archives/check-archive';
import { inMemory } from '../../support/archive-files.ts';
import { readByDirectory } from '../../support/unpackers.ts';
import {
  described,
  describedAfter,
  descriptor,
  unicodePath,
  zip,
  zip64Sizes,
} from '@node-registry/testing/zip';
import type { ZipFile } from '@node-registry/testing/zip';

/*
 * Programs that unpack while they download never see the directory: to them an archive is its local headers and
 * descriptors. Other fields are acted on by one program and ignored by another, as was seen with Info-ZIP's unzip, jar and
 * Python's zipfile. An archive that is accepted unpacks to the same files with all of them.
 */

const file: ZipFile = { name: 'node.py', data: 'print("hello")\n' };
const good = zip([file]);
const zeros = Buffer.alloc(1_000_000);
const noise = deflateRawSync(randomBytes(1000));
const bytes = (...values: number[]) => Buffer.from(values);

const pair = (name: string | Buffer, more: Partial<ZipFile> = {}) =>
  zip([file, { name, data: 'x', ...more }]);
const with_ = (lie: Partial<ZipFile>) => zip([{ ...file, ...lie }]);
const lying = (local: NonNullable<ZipFile['local']>) =>
  zip([
    { ...file, local },
    { name: 'b', data: 'y' },
  ]);
const follows = (lie: Parameters<typeof described>[1]) => zip([described(file, lie)]);
const named = (name: string, plain = 'node.py', version = 1) => unicodePath(name, plain, version);
/** Names without the flag that marks them as UTF-8. */
const unmarked = (...names: (string | Buffer | Partial<ZipFile>)[]) =>
  zip(
    names.map((name) => (typeof name === 'string' || Buffer.isBuffer(name) ? plain(name) : plain('ä', name))),
  );
const plain = (name: string | Buffer, more: Partial<ZipFile> = {}) => ({
  name,
  flags: 0,
  data: 'x',
  ...more,
});
const inBoth = (extra: Buffer): Partial<ZipFile> => ({ extra, local: { extra } });

/** A zip64 locator with wrong values, before the end record. */
const zip64Locator = Buffer.concat([bytes(0x50, 0x4b, 6, 7), Buffer.alloc(16)]);
const evil = zip([{ name: 'evil.py', data: 'x' }], { directoryBytes: 0 }).subarray(0, 40);

/** Stored data with a hidden file: a program that looks for the descriptor ends the data before it. */
function storedWithHiddenFile(): ZipFile {
  const shown = Buffer.from('harmless');
  const hidden = zip([{ name: 'evil.py', data: 'x' }]).subarray(0, 37 + deflateRawSync('x').length);
  const early = descriptor({ name: '', data: shown, method: 0 });
  return described({ name: 'a.txt', method: 0, data: Buffer.concat([shown, early, hidden]) });
}

/** The four bytes whose CRC-32 is the signature of a descriptor. */
const signatureSum = Buffer.from('ac0a7ad5', 'hex');
const none = { crc32: 0, packedBytes: 0, bytes: 0 };
const maxUint32 = 0xffffffff;
const labelOfVolume = { mode: 0, attributes: 0x08 };

/** At least one of each kind that is rejected, by a part of the reason. */
const rejected: Record<string, Record<string, Buffer>> = {
  'it is empty, zero bytes.': { 'no bytes': Buffer.alloc(0) },
  'it is not a zip file.': {
    text: Buffer.from('hello, I am a zip file, believe me'),
    'a gzipped tar': Buffer.concat([bytes(0x1f, 0x8b, 8), Buffer.alloc(100)]),
    'a few bytes': Buffer.from('PK\u0003\u0004'),
    'a zip after a program': zip([file], { before: Buffer.from('#!/bin/sh\n') }),
    'no file where the directory says': with_({ local: { signature: 0 } }),
  },
  'it ends too early': {
    'its first half': good.subarray(0, good.length >> 1),
    'all but its last byte': good.subarray(0, -1),
  },
  'there is data after its end.': {
    'bytes after its end': zip([file], { after: Buffer.from('more') }),
    'the beginning of an end inside its comment': zip([file], { comment: zip([]).subarray(0, -1) }),
  },
  'it states a different number of files': {
    'an end inside its comment': zip([file], { comment: zip([]) }),
    'fewer entries than it has': zip([file, { name: 'b', data: '' }], { entryCount: 1 }),
    'fewer entries on this disk than it has': zip([file, { name: 'b', data: '' }], { entriesOnDisk: 1 }),
    'a smaller directory than it has': zip([file, { name: 'b', data: '' }], { directoryBytes: 47 }),
    'a directory followed by more bytes': zip([file], { beforeEnd: Buffer.alloc(40) }),
  },
  'it contains no files.': { 'no files': zip([]), 'folders only': zip([{ name: 'empty/', method: 0 }]) },
  'it is one part of a split archive.': { 'one part of many': zip([file], { disk: 2 }) },
  'its list of files points outside the archive.': {
    'more entries than it has': zip([file], { entryCount: 2 }),
    'a directory outside of the file': zip([file], { directoryOffset: 0x7fffffff }),
    'a file that begins after the last one': pair('b', { states: { offset: 5000 } }),
  },
  'its list of files is damaged.': {
    'a wrong offset of the directory': zip([file], { directoryOffset: 0 }),
    'a zip64 directory': zip([file], { beforeEnd: zip64Locator }),
    'a damaged extra field': with_({ extra: bytes(1, 0, 0xff, 0xff) }),
  },
  'it is encrypted.': {
    encryption: with_({ flags: 0x801 }),
    'strong encryption': with_({ flags: 0x841 }),
    'a masked directory': with_({ flags: 0x2800 }),
  },
  'the name "../../x.py" leads out of the folder': { 'a path upwards': pair('../../x.py') },
  'the name "../y" leads out': {
    'a path that leads up in the plain name': pair('../y', { extra: named('y', '../y') }),
  },
  '"node.py" has two different names in it.': {
    'a path that leads up in the Unicode name': with_({ extra: named('../x') }),
    'another plain name before the data': with_({ local: { name: 'evil.py' } }),
    'a different name in a Unicode field before the data': lying({ extra: named('evil.py') }),
    'a Unicode field for a different plain name': lying({ extra: named('evil.py', 'other') }),
    'two Unicode fields': with_({ extra: Buffer.concat([named('node.py'), named('b.py')]) }),
    'a Unicode field next to a different name in UTF-8': with_({ extra: named('b.py') }),
    'a Unicode field of a later version': with_({ extra: named('node.py', 'node.py', 2) }),
    'a Unicode field without a name': with_({ extra: named('') }),
  },
  '"ä" has two different names in it.': {
    'a Unicode field that only the directory has': unmarked({ extra: named('ä', 'ä') }),
    'a Unicode field that differs from its bytes': unmarked(inBoth(named('ö', 'ä'))),
    'a Unicode field that spells an accent otherwise': unmarked(inBoth(named('a\u0308', 'ä'))),
  },
  'it has a file without a name.': { 'an empty name': pair('') },
  'has characters that are not text.': { 'a name that is not UTF-8': pair(bytes(0xff, 0xfe, 0x41)) },
  '"node.py" is a symbolic link.': { 'a symbolic link': with_({ mode: 0o120777, data: '/etc/passwd' }) },
  '"node.py" is a device or a pipe.': { 'a device': with_({ mode: 0o020666 }) },
  'the folder "a/" has content of its own.': {
    'a folder with content': zip([file, { name: 'a/', data: 'secret' }]),
    'a folder with packed content of no bytes': zip([file, { name: 'a/', packed: bytes(1, 0, 0, 255, 255) }]),
    'a folder that states content': zip([file, { name: 'a/', states: { bytes: 1 } }]),
  },
  '"node.py" is both a file and a folder.': {
    'a file that is a folder by its mode': with_({ mode: 0o040755 }),
    'a file that is a folder by its attributes': with_({ mode: 0, attributes: 0x10 }),
  },
  'it has two files named "node.py".': { 'a name twice': zip([file, file]) },
  '"node.py" is packed in a rare way': {
    'a rare method': with_({ method: 12 }),
    'a rare method that needs a later version': with_({ method: 14, versionNeeded: 63 }),
    ...Object.fromEntries(
      [0x10, 0x20, 0x80, 0x100, 0x200, 0x400, 0x1000, 0x4000, 0x8000].map((flag) => [
        `the rare flag ${flag}`,
        with_({ flags: 0x800 | flag }),
      ]),
    ),
  },
  '"node.py" needs a rare version of the zip format.': Object.fromEntries(
    [46, 63, 0x0314, 0xff14].flatMap((versionNeeded) => [
      [`version ${versionNeeded} in the directory`, with_({ versionNeeded, local: { versionNeeded: 20 } })],
      [`version ${versionNeeded} before the data`, with_({ local: { versionNeeded } })],
    ]),
  ),
  '"node.py" was packed for a rare system (': Object.fromEntries(
    [0x01, 0x02, 0x04, 0x05, 0x06, 0x0d, 0x0f, 0x12, 0x14, 0xff].map((system) => [
      `an entry of system ${system}`,
      with_({ madeBy: system * 256 + 20 }),
    ]),
  ),
  '"b.py" is the label of a volume.': {
    'a label, made by DOS': pair('b.py', { ...labelOfVolume, madeBy: 0x0014 }),
    'a label, made on Unix': pair('b.py', { ...labelOfVolume, madeBy: 0x0314 }),
    'a label, made on Windows': pair('b.py', { ...labelOfVolume, madeBy: 0x0b17 }),
  },
  'ends in ";1", which some programs cut off': {
    'the number of a version, made on VMS': pair('node.py;1', { madeBy: 0x0214 }),
    'the number of a version, made on Unix': pair('node.py;1'),
  },
  'is not marked as UTF-8.': {
    'a name that jar cannot read': unmarked(bytes(0x63, 0x82)),
    'a Unicode field for a name that jar cannot read': zip([
      plain(bytes(0x84), inBoth(unicodePath('ä', bytes(0x84)))),
    ]),
    'a name beyond ASCII from DOS, which unzip converts': unmarked({ madeBy: 0x0014 }),
    'a name beyond ASCII from Windows, which unzip converts': unmarked({ madeBy: 0x0b17 }),
  },
  'has invisible characters.': Object.fromEntries(
    ['\u202e', '\u200b', '\u2800', '\u3164'].map((character) => [
      `${JSON.stringify(character)} that is invisible only in UTF-8`,
      unmarked(`a${character}.py`),
    ]),
  ),
  'are one file': {
    'names that meet in UTF-8': unmarked('caf\u00e9', 'cafe\u0301'),
    'names that meet in UTF-8, one of them marked': zip([plain('ä'), { name: 'Ä', data: 'x' }]),
    'names that meet in code page 437': unmarked('\u0107.py', '\u0100.py'),
  },
  'git takes the folder "bare" for a repository': {
    'a bare repository': zip(['HEAD', 'objects/a', 'refs/a'].map((name) => ({ name: `bare/${name}` }))),
  },
  'it has two files named "├ñ".': {
    'a name that meets another in code page 437': zip([plain('ä'), { name: '├ñ', data: 'x' }]),
  },
  'longer than 255 bytes': { 'a name that is too long in code page 437': unmarked('ä'.repeat(127)) },
  'becomes another name in some programs.': Object.fromEntries(
    // To unzip they are "__init__.py" and "-", unless they were made on Unix.
    ['\u0718\u0718\u0558nit__.py', 'a/\u0118/b'].flatMap((name) => [
      [`${name} from DOS`, pair(name, { madeBy: 0x0014 })],
      [`${name} from Windows`, pair(name, { madeBy: 0x0b32 })],
    ]),
  ),
  'it has 10001 files and folders, and 10000 are allowed.': {
    'too many entries': zip(Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}`, method: 0 }))),
  },
  'it unpacks to more than 100 times its size.': { 'an honest bomb': zip([{ name: 'zeros', data: zeros }]) },
  'unpacks to a different size than the zip states.': {
    'a zip bomb that states a small size': with_({ packed: deflateRawSync(zeros), states: { bytes: 100 } }),
    'a wrong size': with_({ states: { bytes: 20 } }),
    'a size left to an absent field': lying({ bytes: maxUint32 }),
    'a different packed size before the data': lying({ packedBytes: 3 }),
    'a different unpacked size before the data': lying({ bytes: 3 }),
    'no sizes before or after the data': lying(none),
    'no sizes before the data and none announced after it': with_({ local: none }),
    'a descriptor with a different packed size': follows({ packedBytes: 1 }),
    'a descriptor with another size': follows({ bytes: 1 }),
    'different sizes before and after the data': zip([{ ...described(file), local: { ...none, bytes: 1 } }]),
  },
  'it uses the zip64 format': {
    'a size that needs zip64': with_({ states: { bytes: maxUint32 }, extra: zip64Sizes(2 ** 50) }),
    'a different size in a zip64 field': lying({ ...none, bytes: maxUint32, extra: zip64Sizes(99, 77) }),
    'a zip64 field next to correct sizes': lying({ extra: zip64Sizes(99, 77) }),
  },
  '"node.py" states two sizes': { 'stored data of two sizes': with_({ method: 0, states: { bytes: 3 } }) },
  '"node.py" is damaged.': {
    'a checksum that is wrong': with_({ states: { crc32: 1 } }),
    'a different checksum before the data': lying({ crc32: 1 }),
    'data that cannot be inflated': with_({ packed: bytes(255, 255, 255, 255, 255) }),
    'data that ends too early': with_({ packed: noise.subarray(0, 500), states: { bytes: 1000 } }),
    'a damaged extra field before the data': lying({ extra: bytes(9, 9, 200, 0, 1) }),
    'the flag of a descriptor that is not there': lying({ flags: describedAfter }),
    'the flag of another encoding': lying({ flags: 0 }),
    'the flag of encryption before the data': lying({ flags: 0x801 }),
    'another method before the data': lying({ method: 0 }),
    'a descriptor that only the directory announces': zip([{ ...described(file), local: { flags: 0x800 } }]),
    'a descriptor with another checksum': follows({ crc32: 1 }),
  },
  '"b" is damaged.': { 'a later file that is not there': pair('b', { local: { signature: 0 } }) },
  'overlaps with another file in it.': {
    'files that share their data': zip([file, { ...file, name: 'nodE.pz', states: { offset: 0 } }]),
    'data that reaches into the next file': zip([{ ...file, states: { packedBytes: 30 } }, { name: 'b' }]),
  },
  'so its end can only be guessed': {
    'stored data whose end is a guess': zip([storedWithHiddenFile()]),
    'stored data with its size before and after it': zip([
      { ...described({ ...file, method: 0 }), local: {} },
    ]),
  },
  'it has bytes that belong to none of its files.': {
    'bytes between two files': zip([{ ...file, after: Buffer.alloc(64) }, { name: 'b' }]),
    'an unlisted file between two others': zip([{ ...file, after: evil }, { name: 'b' }]),
    'an unlisted file before the first one': zip([file], {
      before: zip([{ name: 'evil.py' }]).subarray(0, 37),
    }),
    'bytes before the directory': zip([file], { beforeDirectory: Buffer.alloc(12) }),
    'bytes after the packed data': with_({
      packed: Buffer.concat([deflateRawSync(String(file.data)), Buffer.from('hidden')]),
    }),
    'bytes long after the packed data': with_({
      packed: Buffer.concat([deflateRawSync(String(file.data)), Buffer.alloc(500_000)]),
    }),
    'a missing descriptor that is announced': with_({ flags: describedAfter }),
    'a descriptor of 64 bits': zip([{ ...described(file), after: Buffer.alloc(24) }]),
    'a descriptor that is not announced': with_({ after: descriptor(file) }),
    'a descriptor without its signature': zip([{ ...described(file), after: Buffer.alloc(16) }]),
    'an empty stored file without its announced descriptor': zip([
      described({ name: 'a', method: 0 }, {}, false),
    ]),
    'a checksum that can be read as the signature of a descriptor': zip([
      described({ name: 'a', data: signatureSum }, {}, false),
    ]),
  },
};

const rows = Object.entries(rejected).flatMap(([reason, archives]) =>
  Object.entries(archives).map(([label, archive]) => [label, archive, reason] as const),
);

test.each(rows)('checkArchive rejects %s, and says why', async (_, archive, reason) => {
  const rejection = await checkArchive(inMemory(archive)).catch((error: unknown) => error);

  expect(rejection).toMatchObject({
    name: 'ArchiveProblem',
    message: expect.stringMatching(/^The archive was rejected: .*\. Then publish this version again\.$/),
  });
  expect(String(rejection)).toContain(reason);
});

test('the fixtures are what their labels say', async () => {
  expect(crc32(signatureSum)).toBe(0x08074b50);
  const archive = zip([storedWithHiddenFile()]);
  expect((await readByDirectory(archive)).map(([name]) => name)).toEqual(['a.txt']);
  expect(archive.includes('evil.py')).toBe(true);
});
