import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ResourceLimits, Worker } from 'node:worker_threads';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { runProgram } from '../../../tests/support/run-program.ts';
import { extractInWorker } from '../extract-in-worker.ts';
import { hostilePacks } from './hostile-packs.ts';
import { extract, type PackFiles } from './packs.ts';
import type { HostileResult } from './run-hostile-packs.ts';

/** Next to the bundle of the threads, as a function's is. */
const script = join(String(process.env.TEST_DIRECTORY), 'run-hostile-packs.mjs');

beforeAll(() => {
  const entryPoints = ['packages/host-nodes/tests/run-hostile-packs.ts'];
  buildSync({ entryPoints, outfile: script, bundle: true, platform: 'node', format: 'esm' });
});

async function runPacks(...args: string[]) {
  const { status, stdout, stderr } = await runProgram(process.execPath, [script, ...args]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('a hostile pack', () => {
  let results: Record<string, HostileResult>;

  beforeAll(async () => {
    results = await runPacks();
  });

  test.each(hostilePacks.map(([kind]) => [kind]))(
    'ends in time, relative to a loop of the same run: %s',
    (kind) => {
      const { status, timesALoop, isPolluted } = results[kind] as HostileResult;

      expect(['success', 'failed']).toContain(status);
      // Up to 30. The loop takes as many steps; what they do not count must not take much longer.
      expect(timesALoop).toBeLessThan(80);
      expect(isPolluted).toBe(false);
    },
  );
});

test('tries more than sixty kinds of hostile packs, each once', () => {
  expect(new Set(hostilePacks.map(([kind]) => kind)).size).toBe(hostilePacks.length);
  expect(hostilePacks.length).toBeGreaterThan(60);
});

/** The kinds that ask for the most memory. */
const hungry = [
  'a list doubled',
  'dicts merged over and over',
  'many texts kept',
  'recursion on something unknown that doubles',
  'more code than is read',
  'many nodes with a large answer',
];

describe('a hostile pack in a thread of its own', () => {
  test.each(hungry)('takes less than 600 MB: %s', async (kind) => {
    const { status, megabytes } = await runPacks(kind);

    expect(['success', 'failed']).toContain(status);
    expect(megabytes).toBeLessThan(600);
  });

  const lost = (reason: string) => ({ status: 'interrupted', reason });
  const outOfMemory = Object.assign(new Error(), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  const failed = {
    status: 'failed',
    reason: 'It was given up: reading it failed.',
    nodes: [],
    risks: [],
    steps: 0,
  };

  test.each<[string, object, (thread: Worker) => unknown, number | undefined]>([
    ['has no time left', lost('Reading it takes too long.'), () => {}, 1],
    ['ends', lost('Reading it ended without a result.'), (thread) => thread.terminate(), undefined],
    [
      'has no memory left',
      lost('Reading it needs too much memory.'),
      (thread) => thread.emit('error', outOfMemory),
      undefined,
    ],
    [
      'meets an error of the evaluator',
      { ...failed, notes: [`TypeError: ${'x'.repeat(289)}`] },
      (thread) => thread.emit('error', new TypeError('x'.repeat(400))),
      undefined,
    ],
  ])('leaves no thread and no timer of one that %s', async (_, result, end, milliseconds) => {
    const threads: [Worker, ResourceLimits | undefined][] = [];
    const remember = (message: unknown) => {
      const { worker } = message as { worker: Worker };
      threads.push([worker, worker.resourceLimits]);
      process.nextTick(end, worker);
    };
    const [set, clear] = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'clearTimeout')];
    subscribe('worker_threads', remember);
    const files = filesOf('while True:\n    pass');
    const given = await extractInWorker(files, 'pack', milliseconds).finally(() =>
      unsubscribe('worker_threads', remember),
    );
    const timers = set.mock.calls.flatMap(([, ms], at) =>
      ms === (milliseconds ?? 60_000) ? [set.mock.results[at]] : [],
    );

    expect(given).toEqual(result);
    // So one is called that has ended.
    expect(threads.map(([{ threadId }]) => threadId)).toEqual([-1]);
    const limits = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };
    expect(threads[0]?.[1]).toMatchObject(limits);
    expect(clear.mock.calls).toContainEqual([timers[0]?.value]);
    jest.restoreAllMocks();
  });

  test('returns the same result as without a thread', async () => {
    const files = filesOf(
      'NODE_CLASS_MAPPINGS = {"A": type("A", (), {"FUNCTION": "f", "RETURN_TYPES": ("X",)})}',
    );

    expect(await extractInWorker(files, 'our-pack')).toEqual(extract(Object.fromEntries(files) as PackFiles));
  });
});

function filesOf(files: PackFiles | string): Map<string, string> {
  return new Map(Object.entries(typeof files === 'string' ? { '__init__.py': files } : files));
}
