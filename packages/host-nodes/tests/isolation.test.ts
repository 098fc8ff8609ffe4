import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { folder } from '../../../tests/support/folders.ts';
import { runProgram } from '../../../tests/support/run-program.ts';

/** Loaded into every thread: the one of a pack writes down which variables it has. */
const probe = `
  import { writeSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  if (!isMainThread) writeSync(1, JSON.stringify(process.env));
`;
const program = `
  import { extractInWorker } from '${new URL('../extract-in-worker.ts', import.meta.url)}';
  await extractInWorker(new Map([['__init__.py', 'x = [1]\\n'.repeat(1000)]]), 'a-pack');
`;

async function runWith(...flags: string[]): Promise<string> {
  const path = join(folder, 'program.mjs');
  await writeFile(path, program);
  const environment = { SECRET_OF_THE_FUNCTION: 'a secret' };
  return (await runProgram(process.execPath, [...flags, path], { environment })).stdout;
}

test('gives the thread of a pack no variable of the function', async () => {
  const written = await runWith('--import', `data:text/javascript,${encodeURIComponent(probe)}`);

  expect(JSON.parse(written)).toEqual({});
});

test('frees no code of the parser before its process ends', async () => {
  expect(await runWith('--stress-wasm-code-gc', '--trace-wasm-code-gc')).toBe('');
});
