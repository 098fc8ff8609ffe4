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

const extract = (...args: string[]) =>
  runProgram(process.execPath, [
    join(import.meta.dirname, '../command/extract.ts'),
    '--packs',
    packs,
    ...args,
  ]);

describe('npm run extract', () => {
  test('shows the result for each folder, and skips other files', async () => {
    await addPack('owner+pack');
    await writeFile(join(packs, 'README.md'), 'packs');
    const { status, stdout } = await extract();

    expect(status).toBe(0);
    expect(stdout).toMatch(/^owner\+pack: success, 1 nodes, \d+ steps, [\d.]+ s\n1 packs, 1 nodes; /);
  });

  test('rejects a folder without packs', async () => {
    const empty = await extract();

    expect([empty.status, empty.stderr]).toEqual([
      2,
      `There is no folder in ${packs}. See npm run extract -- --help\n`,
    ]);
  });
});
