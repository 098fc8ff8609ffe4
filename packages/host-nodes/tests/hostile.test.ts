import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ResourceLimits, Worker } from 'node:worker_threads';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { directory } from '@node-registry/testing/folders';
import { runProgram } from '@node-registry/testing/shell';
import { extractInWorker } from '../extract-in-worker.ts';
import { hostilePacks, hungry } from './hostile-packs.ts';
import { extract, type PackFiles } from './packs.ts';
import type { HostileResult } from './run-hostile-packs.ts';

// A hook runs a hundred packs.
jest.setTimeout(300_000);

let script = '';

beforeAll(() => {
  script = join(directory, 'run-hostile-packs.mjs');
  const entryPoints = [join(import.meta.dirname, 'run-hostile-packs.ts')];
  buildSync({ entryPoints, outfile: script, bundle: true, platform: 'node', format: 'esm' });
});

async function runScript(flags: string[], ...kind: string[]): Promise<string> {
  const env = { SECRET_OF_THE_FUNCTION: 'a secret' };
  const { code, stdout, stderr } = await runProgram(process.execPath, [...flags, script, ...kind], {
    env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

const runPacks = async (...kind: string[]) => JSON.parse(await runScript([], ...kind));

describe('a hostile pack', () => {
  let results: Record<string, HostileResult>;

  beforeAll(async () => {
    results = await runPacks();
  });

  test.each(Object.keys(hostilePacks).filter((kind) => !hungry.includes(kind)))(
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

describe('a hostile pack in a thread of its own', () => {
  test.each(hungry)('takes less than 600 MB, and ends in time: %s', async (kind) => {
    const { status, timesALoop, megabytes } = await runPacks(kind);

    expect(['success', 'failed']).toContain(status);
    expect(timesALoop).toBeLessThan(80);
    expect(megabytes).toBeLessThan(600);
  });

  test('has no variable of the function', async () => {
    const probe = `
      import { writeSync } from 'node:fs';
      import { isMainThread } from 'node:worker_threads';
      if (!isMainThread) writeSync(1, JSON.stringify(process.env));
    `;
    const flags = ['--import', `data:text/javascript,${encodeURIComponent(probe)}`];

    expect(await runScript(flags, 'an iterator of itself')).toMatch(/^\{\}\{"status":/);
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
      ms === (milliseconds ?? 30_000) ? [set.mock.results[at]] : [],
    );

    expect(given).toEqual(result);
    // So one is called that has ended.
    expect(threads.map(([{ threadId }]) => threadId)).toEqual([-1]);
    const limits = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };
    expect(threads[0]?.[1]).toMatchObject(limits);
    expect(clear.mock.calls).toContainEqual([timers[0]?.value]);
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
