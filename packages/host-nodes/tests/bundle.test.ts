import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bundle } from '../../../infra/bundle/build.ts';

/** The thread's file as it is deployed, next to the function's. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'extraction-worker-'));
  const { outputs } = await bundle('functions/extract-host-nodes.ts', folder);
  for (const { path, contents } of outputs) await writeFile(join(folder, basename(path)), contents);
});

afterAll(() => rm(folder, { recursive: true }));

test('holds the thread that the function starts', async () => {
  const files = new Map([['__init__.py', 'NODE_CLASS_MAPPINGS = {"A": type("A", (), {"FUNCTION": "f"})}']]);
  const workerData = { files, name: 'pack', deadline: Date.now() + 10_000 };
  const worker = new Worker(join(folder, 'extraction-worker.js'), { workerData });
  const [answer] = await once(worker, 'message');

  expect(answer).toMatchObject({ status: 'success', nodes: [{ name: 'A', function: 'f' }] });
});
