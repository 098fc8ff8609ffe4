import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { runProgram } from 'testing/run-program';

const code = `class N:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "ours"
NODE_CLASS_MAPPINGS = {"N": N}
`;

let packs: string;

beforeEach(async () => {
  packs = await mkdtemp(join(tmpdir(), 'node-registry-packs-'));
});

afterEach(() => rm(packs, { recursive: true, force: true }));

async function addPack(name: string, content = code): Promise<void> {
  await mkdir(join(packs, name));
  await writeFile(join(packs, name, '__init__.py'), content);
}

async function writeExpected(repository: string): Promise<string> {
  const file = join(packs, 'expected.json');
  const nodes = { N: { function: 'run', category: 'theirs' } };
  await writeFile(file, JSON.stringify([{ repository, commit: 'x', nodes }]));
  return file;
}

const extract = (...args: string[]) =>
  runProgram(process.execPath, [
    join(import.meta.dirname, '../command/extract.ts'),
    '--packs',
    packs,
    ...args,
  ]);

describe('npm run extract', () => {
  test('shows the result for each folder, skips other files, and compares nothing by default', async () => {
    await addPack('owner+pack');
    await writeFile(join(packs, 'README.md'), 'packs');
    const { status, stdout } = await extract();

    expect(status).toBe(0);
    expect(stdout).toMatch(/^owner\+pack: success, 1 nodes, \d+ steps, [\d.]+ s\n1 packs, 1 nodes, /);
    expect(stdout).not.toMatch(/NaN|0 of 0|names/);
  });

  test('compares with the expected result', async () => {
    await addPack('owner+pack');
    const { status, stdout } = await extract('--expected', await writeExpected('owner/pack'));

    expect(status).toBe(0);
    expect(stdout).toContain('names 1 of 1, 0 extra; 1 values wrong, 0 open');
    expect(stdout).toContain('function 1 of 1 (100.00 %)');
    expect(stdout).toContain('category 0 of 1 (0.00 %)');
    expect(stdout).not.toMatch(/NaN|0 of 0/);
  });

  test('rejects a folder without packs, and expectations of other packs', async () => {
    const empty = await extract();
    await addPack('owner+pack');
    const other = await extract('--expected', await writeExpected('owner/other'));

    expect([empty.status, empty.stderr]).toEqual([
      2,
      `There is no folder in ${packs}. See npm run extract -- --help\n`,
    ]);
    expect([other.status, other.stderr]).toEqual([
      2,
      expect.stringContaining('is named after a repository of'),
    ]);
  });
});
