import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import { type ZipFile, zip } from '@node-registry/testing/zip';
import { unpack } from '../unpack.ts';

describe('unpack', () => {
  const file = { name: 'node.py', data: 'x' };

  test.each<[kind: string, entry: ZipFile]>([
    ['a path that leaves the folder', { name: '../escape.py', data: 'x' }],
    ['an absolute path', { name: '/tmp/escape.py', data: 'x' }],
    ['a link', { name: 'link', data: '/etc/passwd', mode: 0o120777 }],
    ['a size that is not true', { name: 'bomb', data: 'x'.repeat(100), states: { bytes: 1 } }],
    ['two names that are one file', { name: 'NODE.py', data: 'y' }],
    ['a configuration of git', { name: 'sub/.git/config', data: '[core]' }],
    ['a configuration of git under its short name', { name: 'GIT~1/config', data: '[core]' }],
  ])('writes nothing of an archive with %s', async (_, entry) => {
    await expect(unpack(zip([file, entry]), join(folder, 'target'))).rejects.toMatchObject({ exitCode: 4 });
    expect(await readdir(folder)).toEqual([]);
  });

  test('leaves no part of an archive whose next file cannot be written', async () => {
    const target = join(folder, ...Array<string>(17).fill('x'.repeat(200)), 'target');
    // No system takes a path as long as both together.
    const other = { name: `${`${'y'.repeat(196)}/`.repeat(5)}node.py`, data: 'z' };

    await expect(unpack(zip([file, other]), target)).rejects.toMatchObject({ exitCode: 2 });
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.py'))).toEqual([]);
  });
});
