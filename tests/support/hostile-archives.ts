import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { unicodePath, type ZipFile, zip, zip64Sizes } from 'testing/zip';

const file: ZipFile = { name: 'node.py', data: 'print("hello")\n' };
const good = zip([file]);
const zeros = Buffer.alloc(1_000_000);
const noise = deflateRawSync(randomBytes(1000));
const megabyte = deflateRawSync(zeros);
/** Large enough to be unpacked piece by piece. */
const large = randomBytes(1_100_000);

/** A zip64 locator with wrong values, before the end record. */
const zip64Locator = Buffer.concat([Buffer.from([0x50, 0x4b, 6, 7]), Buffer.alloc(16)]);

const named = (name: string | Buffer, flags?: number) =>
  zip([file, { name, data: 'x', ...(flags !== undefined && { flags }) }]);
const with_ = (lie: Partial<ZipFile>) => zip([{ ...file, ...lie }]);

/** At least one of each kind that is rejected, by a part of the reason. */
const byReason: Record<string, [label: string, archive: Buffer][]> = {
  'it is empty, zero bytes.': [['no bytes', Buffer.alloc(0)]],
  'it is not a zip file.': [
    ['text', Buffer.from('hello, I am a zip file, believe me')],
    ['a gzipped tar', Buffer.concat([Buffer.from([0x1f, 0x8b, 8]), Buffer.alloc(100)])],
    ['a few bytes', Buffer.from('PK\u0003\u0004')],
    ['a zip after a program', zip([file], { before: Buffer.from('#!/bin/sh\n') })],
    ['no file where the directory says', with_({ local: { signature: 0 } })],
  ],
  'it ends too early': [
    ['its first half', good.subarray(0, good.length >> 1)],
    ['all but its last byte', good.subarray(0, -1)],
  ],
  'there is data after its end.': [['bytes after its end', zip([file], { after: Buffer.from('more') })]],
  'it states a different number of files': [
    ['an end inside its comment', zip([file], { comment: zip([]) })],
    ['fewer entries than it has', zip([file, { name: 'b', data: '' }], { entryCount: 1 })],
    ['fewer entries on this disk than it has', zip([file, { name: 'b', data: '' }], { entriesOnDisk: 1 })],
    ['a smaller directory than it has', zip([file, { name: 'b', data: '' }], { directoryBytes: 47 })],
    ['a directory followed by more bytes', zip([file], { beforeEnd: Buffer.alloc(40) })],
  ],
  'it contains no files.': [
    ['no files', zip([])],
    ['folders only', zip([{ name: 'empty/', method: 0 }])],
  ],
  'it is one part of a split archive.': [['one part of many', zip([file], { disk: 2 })]],
  'its list of files points outside the archive.': [
    ['more entries than it has', zip([file], { entryCount: 2 })],
    ['a directory outside of the file', zip([file], { directoryOffset: 0x7fffffff })],
    ['a file that begins after the last one', zip([file, { name: 'b', data: '', states: { offset: 5000 } }])],
  ],
  'its list of files is damaged.': [
    ['a wrong offset of the directory', zip([file], { directoryOffset: 0 })],
    ['a zip64 directory', zip([file], { beforeEnd: zip64Locator })],
    ['a damaged extra field', with_({ extra: Buffer.from([1, 0, 0xff, 0xff]) })],
  ],
  'it is encrypted.': [
    ['encryption', with_({ flags: 0x801 })],
    ['strong encryption', with_({ flags: 0x841 })],
    ['a masked directory', with_({ flags: 0x2800 })],
  ],
  'the name "../../x.py" leads out of the folder': [['a path upwards', named('../../x.py')]],
  '"node.py" has two different names in it.': [
    ['a path that leads up in the Unicode name', with_({ extra: unicodePath('../x', 'node.py') })],
    ['a different name before the data', with_({ local: { name: 'evil.py' } })],
  ],
  'the name "../y" leads out': [
    [
      'a path that leads up in the plain name',
      zip([file, { name: '../y', data: 'y', extra: unicodePath('y', '../y') }]),
    ],
  ],
  'it has a file without a name.': [['an empty name', named('')]],
  'has characters that are not text.': [['a name that is not UTF-8', named(Buffer.from([0xff, 0xfe, 0x41]))]],
  '"node.py" is a symbolic link.': [['a symbolic link', with_({ mode: 0o120777, data: '/etc/passwd' })]],
  '"node.py" is a device or a pipe.': [['a device', with_({ mode: 0o020666 })]],
  'the folder "a/" has content of its own.': [
    ['a folder with content', zip([file, { name: 'a/', data: 'secret' }])],
    [
      'a folder with packed content of no bytes',
      zip([file, { name: 'a/', packed: Buffer.from([1, 0, 0, 0xff, 0xff]) }]),
    ],
    ['a folder that states content', zip([file, { name: 'a/', states: { bytes: 1 } }])],
  ],
  'it has two files named "node.py".': [['a name twice', zip([file, file])]],
  '"node.py" is packed in a rare way.': [
    ['a rare method', with_({ method: 12 })],
    ['a rare method that needs a later version', with_({ method: 14, versionNeeded: 63 })],
  ],
  'it has 10001 files and folders, and 10000 are allowed.': [
    [
      'too many entries',
      zip(Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}`, method: 0 }))),
    ],
  ],
  'it unpacks to more than 100 times its size.': [['an honest bomb', zip([{ name: 'zeros', data: zeros }])]],
  'unpacks to a different size than the zip states.': [
    ['a zip bomb that states a small size', with_({ packed: megabyte, states: { bytes: 100 } })],
    ['a wrong size', with_({ states: { bytes: 20 } })],
  ],
  'it uses the zip64 format': [
    ['a size that needs zip64', with_({ states: { bytes: 0xffffffff }, extra: zip64Sizes(2 ** 50) })],
  ],
  '"node.py" states two sizes': [['stored data of two sizes', with_({ method: 0, states: { bytes: 3 } })]],
  '"node.py" is damaged.': [
    ['a checksum that is wrong', with_({ states: { crc32: 1 } })],
    ['data that cannot be inflated', with_({ packed: Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]) })],
    ['data that ends too early', with_({ packed: noise.subarray(0, 500), states: { bytes: 1000 } })],
  ],
  '"b" is damaged.': [
    ['a later file that is not there', zip([file, { name: 'b', local: { signature: 0 } }])],
  ],
  'overlaps with another file in it.': [
    ['two files that share their data', zip([file, { ...file, name: 'nodE.pz', states: { offset: 0 } }])],
    ['data that reaches into the next file', zip([{ ...file, states: { packedBytes: 30 } }, { name: 'b' }])],
  ],
  'it has bytes that belong to none of its files.': [
    ['bytes between two files', zip([{ ...file, after: Buffer.alloc(64) }, { name: 'b' }])],
    [
      'an unlisted file before the first one',
      zip([file], { before: zip([{ name: 'evil.py' }]).subarray(0, 30 + 'evil.py'.length) }),
    ],
    ['bytes before the directory', zip([file], { beforeDirectory: Buffer.alloc(12) })],
    [
      'bytes after the packed data',
      with_({ packed: Buffer.concat([deflateRawSync(String(file.data)), Buffer.from('hidden')]) }),
    ],
    ...[1, 500_000].map((bytes): [string, Buffer] => [
      `${bytes} bytes after the packed data of a large file`,
      with_({ data: large, packed: Buffer.concat([deflateRawSync(large), Buffer.alloc(bytes)]) }),
    ]),
  ],
};

export const hostileArchives = Object.entries(byReason).flatMap(([reason, archives]) =>
  archives.map(([label, archive]): [label: string, archive: Buffer, reason: string] => [
    label,
    archive,
    reason,
  ]),
);
