import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { digestSources, isUpToDate, rememberBuild } from '../../infra/bundle/up-to-date.ts';

let root: string;

const sources = {
  'functions/greet.ts': 'export const handler = () => 1;',
  'lib/deep/word.ts': 'export const word = 1;',
  'infra/bundle/build.ts': '',
  'packages/host-nodes/read.ts': '',
  'packages/registry-rules/names.ts': '',
  'node_modules/.package-lock.json': '{}',
  'package.json': '{}',
  'tsconfig.json': '{}',
};
const made = { 'dist/greet/index.js': 'export const handler=()=>1;' };

async function write(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, name)), { recursive: true });
  await writeFile(join(root, name), text);
}

async function built(meanwhile = async () => {}): Promise<void> {
  const sources = await digestSources(root);
  await meanwhile();
  await rememberBuild(root, sources);
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'node-registry-build-'));
  for (const [name, text] of Object.entries({ ...sources, ...made })) await write(name, text);
});

afterEach(() => rm(root, { recursive: true, force: true }));

describe('a build', () => {
  test('runs if there was none before', async () => {
    expect(await isUpToDate(root)).toBe(false);
  });

  test('does not run again while nothing has changed, wherever the folder is', async () => {
    await built();
    expect(await isUpToDate(root)).toBe(true);

    await cp(root, `${root}-moved`, { recursive: true });
    expect(await isUpToDate(`${root}-moved`)).toBe(true);
    await rm(`${root}-moved`, { recursive: true });
  });

  test.each([...Object.keys(sources), ...Object.keys(made)])(
    'runs again with another %s or none',
    async (name) => {
      await built();
      await write(name, 'changed');
      expect(await isUpToDate(root)).toBe(false);
      await built();
      await rm(join(root, name));
      expect(await isUpToDate(root)).toBe(false);
    },
  );

  test.each(['functions/new.ts', 'dist/greet/left-over.js'])('runs again with %s', async (name) => {
    await built();
    await write(name, '');
    expect(await isUpToDate(root)).toBe(false);
  });

  test('runs again after a source has changed during the last one', async () => {
    await built(() => write('lib/deep/word.ts', 'changed'));
    expect(await isUpToDate(root)).toBe(false);
  });

  test('runs again after text moves from a file into its name', async () => {
    await write('lib/a', 'b');
    await built();
    await rm(join(root, 'lib/a'));
    await write('lib/ab', '');
    expect(await isUpToDate(root)).toBe(false);
  });
});
