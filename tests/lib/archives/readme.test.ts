import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readReadme } from '../../../lib/archives/readme.ts';
import { inMemory } from '../../support/archive-files.ts';
import { type ZipFile, zip } from '@node-registry/testing/zip';

const code = { name: 'node.py', data: 'NODE_CLASS_MAPPINGS = {}\n' };
const read = (...files: ZipFile[]) => readReadme(inMemory(zip([code, ...files])));

describe('readReadme', () => {
  test.each<[kind: string, file: Partial<ZipFile>]>([
    ['deflated', {}],
    ['stored', { method: 0 }],
    ['deeper', { local: { extra: Buffer.alloc(8) } }],
  ])('reads a %s README', async (_, file) => {
    const readme = await read({ name: 'README.md', data: '# Nöde\n', ...file });

    expect(readme).toEqual({ path: 'README.md', text: '# Nöde\n', isCut: false });
  });

  test.each([
    ['Markdown before other formats', ['README.txt', 'readme.rst', 'ReadMe.MD'], 'ReadMe.MD'],
    ['a README without an ending', ['README'], 'README'],
    ['the README of the root, not of a folder', ['docs/README.md', 'README.rst'], 'README.rst'],
    ['no README of a folder among others', ['docs/README.md', 'other/README.md'], undefined],
    ['no file whose name only begins like one', ['README.zh-CN.md', 'readme.html'], undefined],
  ])('chooses %s', async (_, names, expected) => {
    const readme = await read(...names.map((name) => ({ name, data: name })));

    expect(readme?.path).toBe(expected);
    expect(readme?.text).toBe(expected);
  });

  test('looks into the one folder that holds everything', async () => {
    const files = ['pack/node.py', 'pack/README.md', 'pack/web/README.md'].map((name) => ({
      name,
      data: name,
    }));

    expect(await readReadme(inMemory(zip(files)))).toMatchObject({ path: 'pack/README.md' });
  });

  test.each<[kind: string, method: number]>([
    ['deflated', 8],
    ['stored', 0],
  ])('cuts a long %s README between characters', async (_, method) => {
    const words = Array.from({ length: 30_000 }, () => Math.random().toString(36)).join('');
    const start = words.slice(0, 199_999);
    const readme = await read({ name: 'README.md', data: `${start}é${words}`, method });

    expect(readme).toEqual({ path: 'README.md', text: start, isCut: true });
  });

  test('cuts a README that does not compress, and reads no more of the archive than it needs', async () => {
    const text = Array.from({ length: 60_000 }, () => Math.random().toString(36)).join('');
    const archive = inMemory(zip([code, { name: 'README.md', data: text }]));
    let bytes = 0;
    const counted = {
      ...archive,
      read: (start: number, end: number) => {
        bytes += end - start;
        return archive.read(start, end);
      },
    };

    expect(await readReadme(counted)).toEqual({
      path: 'README.md',
      text: text.slice(0, 200_000),
      isCut: true,
    });
    expect(bytes).toBeLessThan(1_200_000);
  });

  test('takes one that cannot be unpacked for an empty one', async () => {
    const archive = zip([{ name: 'README.md', data: randomBytes(500).toString('hex') }]);
    archive.fill(0xff, 40, 60);

    expect(await readReadme(inMemory(archive))).toMatchObject({ path: 'README.md', text: '' });
  });

  test.each([
    ['an empty file', Buffer.alloc(0), ''],
    ['UTF-8 with a mark', Buffer.from('\uFEFFHello'), 'Hello'],
    ['UTF-16 with a mark', Buffer.from('\uFEFFHello', 'utf16le'), 'Hello'],
    ['bytes that are not text', Buffer.from([0x48, 0xff, 0x69]), 'H\uFFFDi'],
  ])('reads %s', async (_, data, text) => {
    expect(await read({ name: 'README.md', data })).toEqual({ path: 'README.md', text, isCut: false });
  });
});
