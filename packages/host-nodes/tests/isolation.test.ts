import { expect, test } from '@jest/globals';
import { runProgram } from '../../../tests/support/run-program.ts';

/** Loaded into every thread: the one of a pack writes down which variables it has. */
const probe = `
  import { writeSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  if (!isMainThread) writeSync(1, JSON.stringify(process.env));
`;
const script = `
  import { extractInWorker } from './packages/host-nodes/extract-in-worker.ts';
  await extractInWorker(new Map([['__init__.py', '']]), 'a-pack');
`;

test('gives the thread of a pack no variable of the function', async () => {
  const { stdout } = await runProgram(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(probe)}`,
      '--input-type=module',
      '--eval',
      script,
    ],
    { environment: { SECRET_OF_THE_FUNCTION: 'a secret' } },
  );

  expect(JSON.parse(stdout)).toEqual({});
});
