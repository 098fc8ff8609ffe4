import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import { runProgram } from '@node-registry/testing/shell';

const code = `class N:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "ours"
NODE_CLASS_MAPPINGS = {"N": N}
`;

async function addPack(name: string, content = code): Promise<void> {
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, '__init__.py'), content);
}

const extract = (...args: string[]) =>
  runProgram(process.execPath, [
    join(import.meta.dirname, '../command/extract.ts'),
    '--packs',
    folder,
    ...args,
  ]);

describe('npm run extract', () => {
  test('shows the result for each folder, and skips other files', async () => {
    await addPack('owner+pack');
    await writeFile(join(folder, 'README.md'), 'packs');
    const { code, stdout } = await extract();

    expect(code).toBe(0);
    expect(stdout).toMatch(/^owner\+pack: success, 1 nodes, \d+ steps, [\d.]+ s\n1 packs, 1 nodes; /);
  });
});
