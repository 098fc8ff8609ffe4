import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isUpToDate, rememberBuild } from '../../tools/build/up-to-date.ts';

let root: string;

const sources = {
  'functions/greet.ts': 'export const handler = () => 1;',
  'lib/deep/word.ts': 'export const word = 1;',
  'tools/build/build.ts': '',
  'node_modules/.package-lock.json': '{}',
  'package.json': '{}',
  'tsconfig.json': '{}',
};
const made = { 'dist/greet/index.js': 'export const handler=()=>1;' };

async function write(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, name)), { recursive: true });
  await writeFile(join(root, name), text);
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'node-registry-build-'));
  for (const [name, text] of Object.entries({ ...sources, ...made })) await write(name, text);
});

afterEach(() => rm(root, { recursive: true, force: true }));

describe('a build', () => {
  test('is needed if there was none before', async () => {
    expect(await isUpToDate(root)).toBe(false);
  });

  test('is not made again while nothing has changed, wherever the folder is', async () => {
    await rememberBuild(root);
    expect(await isUpToDate(root)).toBe(true);

    await cp(root, `${root}-moved`, { recursive: true });
    expect(await isUpToDate(`${root}-moved`)).toBe(true);
    await rm(`${root}-moved`, { recursive: true });
  });

  test.each([...Object.keys(sources), ...Object.keys(made)])(
    'is made again after a change of %s',
    async (name) => {
      await rememberBuild(root);
      await write(name, 'changed');
      expect(await isUpToDate(root)).toBe(false);
    },
  );

  test.each([...Object.keys(sources), ...Object.keys(made)])('is made again without %s', async (name) => {
    await rememberBuild(root);
    await rm(join(root, name));
    expect(await isUpToDate(root)).toBe(false);
  });

  test.each(['functions/new.ts', 'lib/new.ts', 'dist/greet/left-over.js'])(
    'is made again with %s',
    async (name) => {
      await rememberBuild(root);
      await write(name, '');
      expect(await isUpToDate(root)).toBe(false);
    },
  );

  test('is made again after text moves from a file into its name', async () => {
    await write('lib/a', 'b');
    await rememberBuild(root);
    await rm(join(root, 'lib/a'));
    await write('lib/ab', '');
    expect(await isUpToDate(root)).toBe(false);
  });
});
