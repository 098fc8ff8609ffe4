import { describe, expect, test } from '@jest/globals';
import { checkArchive } from 'registry-rules/archives/check-archive';
import { inMemory } from '../../support/archive-files.ts';
import { unicodePath, type ZipFile, zip } from 'testing/zip';

/*
 * Fields that one program acts on and another ignores. What each of them does was seen with Info-ZIP's unzip, jar
 * and Python's zipfile: an archive that is accepted unpacks to the same files with all of them.
 */

const file: ZipFile = { name: 'node.py', data: 'print("hello")\n' };
const check = async (...files: ZipFile[]) => (await checkArchive(inMemory(zip(files)))).sha256;
const sum = expect.stringMatching(/^[0-9a-f]{64}$/);

describe('the system that made an entry', () => {
  test.each([
    ['git archive and jar', 0x0014],
    ['Python and libarchive on Unix', 0x0314],
    ['Info-ZIP on Unix', 0x031e],
    ['a writer by the format specification on NTFS', 0x0a14],
    ['Info-ZIP on Windows', 0x0b17],
    ['a writer on VFAT', 0x0e14],
    ['a writer on macOS', 0x1314],
  ])('accepts an entry from %s', async (_, madeBy) => {
    expect(await check({ ...file, madeBy })).toEqual(sum);
  });

  test.each([0x01, 0x02, 0x04, 0x05, 0x06, 0x0d, 0x0f, 0x12, 0x14, 0xff])(
    'rejects an entry if its system is number %i',
    async (system) => {
      await expect(check({ ...file, madeBy: system * 256 + 20 })).rejects.toThrow(
        `"node.py" was packed for a rare system (${system}).`,
      );
    },
  );

  test('does not make ";1" a part of a name, which unzip cuts off whatever the system', async () => {
    for (const madeBy of [0x0214, 0x0314]) {
      const versioned = { ...file, name: 'node.py;1', madeBy };
      await expect(check(file, versioned)).rejects.toThrow('ends in ";1", which some programs cut off');
    }
  });
});

describe('the attributes of an entry', () => {
  test.each([0x0014, 0x0314, 0x0b17])('rejects the label of a volume, made by %i', async (madeBy) => {
    await expect(check(file, { name: 'b.py', mode: 0, attributes: 0x08, madeBy })).rejects.toThrow(
      '"b.py" is the label of a volume.',
    );
  });

  test.each<[string, Partial<ZipFile>]>([
    ['by its mode', { mode: 0o040755 }],
    ['by its attributes', { mode: 0, attributes: 0x10 }],
  ])('cannot turn a file into a folder: %s', async (_, attributes) => {
    await expect(check({ ...file, ...attributes })).rejects.toThrow('"node.py" is both a file and a folder.');
  });

  test('accepts read-only, hidden, to be archived, or a folder of a folder', async () => {
    const folder = { name: 'a/', mode: 0o040755, attributes: 0x10 };

    expect(await check({ ...file, attributes: 0x23 }, folder)).toEqual(sum);
  });
});

describe('a name beyond ASCII that is not marked as UTF-8', () => {
  const unmarked = (name: string | Buffer, more: Partial<ZipFile> = {}): ZipFile => ({
    name,
    flags: 0,
    data: 'x',
    ...more,
  });

  test('rejects a name if it is not UTF-8, because jar cannot read it', async () => {
    await expect(check(unmarked(Buffer.from([0x63, 0x82])))).rejects.toThrow('is not marked as UTF-8.');
  });

  test('rejects a name from a system other than Unix, where unzip converts it', async () => {
    for (const madeBy of [0x0014, 0x0b17]) {
      await expect(check(unmarked('ä.py', { madeBy }))).rejects.toThrow(
        'the name "ä.py" is not marked as UTF-8.',
      );
    }
    expect(await check(unmarked('ä.py', { madeBy: 0x1314 }))).toEqual(sum);
  });

  test('rejects a name with invisible characters, which it has only in UTF-8', async () => {
    for (const character of ['\u202e', '\u200b', '\u2800', '\u3164']) {
      await expect(check(unmarked(`a${character}.py`))).rejects.toThrow('has invisible characters.');
    }
  });

  test('rejects a name with another that meets it in UTF-8', async () => {
    await expect(check(unmarked('caf\u00e9'), unmarked('cafe\u0301'))).rejects.toThrow('are one file');
    await expect(check(unmarked('ä'), { name: 'Ä' })).rejects.toThrow('are one file');
  });

  test('rejects a name with another that meets it in code page 437', async () => {
    await expect(check(unmarked('\u0107.py'), unmarked('\u0100.py'))).rejects.toThrow('are one file');
    await expect(check(unmarked('ä'), { name: '├ñ' })).rejects.toThrow('it has two files named "├ñ".');
  });

  test('rejects a name that is too long for a file in code page 437', async () => {
    expect(await check({ name: 'ä'.repeat(127) })).toEqual(sum);
    await expect(check(unmarked('ä'.repeat(127)))).rejects.toThrow('longer than 255 bytes');
  });

  test('rejects a name with a Unicode field for bytes that are not UTF-8, because jar cannot read them', async () => {
    const name = Buffer.from([0x84]);
    const extra = unicodePath('ä', name);

    await expect(check(unmarked(name, { extra, local: { extra } }))).rejects.toThrow(
      'is not marked as UTF-8.',
    );
  });

  test.each([
    ['that differs from its bytes', Buffer.from('ä'), 'ö'],
    ['that differs from its bytes in the spelling of an accent', Buffer.from('ä'), 'a\u0308'],
  ])('rejects a name with a Unicode field %s', async (_, name, other) => {
    const extra = unicodePath(other, name);

    await expect(check(unmarked(name, { extra, local: { extra } }))).rejects.toThrow(
      'has two different names',
    );
  });
});

describe('a name that is marked as UTF-8', () => {
  /** To unzip they are "__init__.py" and "-". */
  const names = ['\u0718\u0718\u0558nit__.py', 'a/\u0118/b'];

  test.each(names)(
    'rejects a name if unzip makes ASCII of it, because it was not made on Unix: %j',
    async (name) => {
      for (const madeBy of [0x0014, 0x0b32]) {
        await expect(check({ name, madeBy })).rejects.toThrow('becomes another name in some programs.');
      }
      expect(await check({ name, madeBy: 0x0314 })).toEqual(sum);
    },
  );

  test('accepts a name from jar, Windows and others that state DOS', async () => {
    for (const name of ['ä.py', '日本/ノ.py', '\u0118ä', '🦊.json']) {
      expect(await check({ name, madeBy: 0x0014 })).toEqual(sum);
    }
  });
});

describe('the features that an entry needs to be unpacked', () => {
  test.each([10, 20, 45])('accepts version %i', async (versionNeeded) => {
    expect(await check({ ...file, versionNeeded })).toEqual(sum);
  });

  test.each([46, 63, 0x0314, 0xff14])('rejects version %i in either header', async (versionNeeded) => {
    const reason = '"node.py" needs a rare version of the zip format.';
    const local = { versionNeeded };

    await expect(check({ ...file, versionNeeded, local: { versionNeeded: 20 } })).rejects.toThrow(reason);
    await expect(check({ ...file, local })).rejects.toThrow(reason);
  });

  test.each([0x10, 0x20, 0x80, 0x100, 0x200, 0x400, 0x1000, 0x4000, 0x8000])(
    'rejects the rare flag %i',
    async (flag) => {
      await expect(check({ ...file, flags: 0x800 | flag })).rejects.toThrow(
        '"node.py" is packed in a rare way',
      );
    },
  );

  test.each([0x2, 0x4, 0x6])('accepts the flags %i of how hard it was deflated', async (flag) => {
    expect(await check({ ...file, flags: 0x800 | flag })).toEqual(sum);
  });
});
