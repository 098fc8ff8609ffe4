import { describe, expect, test } from '@jest/globals';
import { extractInWorker } from '../extract-in-worker.ts';
import { hostilePacks } from './hostile-packs.ts';
import { extract, type PackFiles } from './packs.ts';

describe('a hostile pack', () => {
  test.each(hostilePacks)(
    'ends with a status within its bounds: %s',
    (_kind, files) => {
      // The time of this thread: other work on the machine is not the pack's.
      const started = process.threadCpuUsage();

      expect(['success', 'failed']).toContain(extract(files).status);
      const { user, system } = process.threadCpuUsage(started);
      expect((user + system) / 1e6).toBeLessThan(10);
      expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted');
    },
    60_000,
  );
});

test('more than sixty kinds of hostile packs are tried, each once', () => {
  expect(new Set(hostilePacks.map(([kind]) => kind)).size).toBe(hostilePacks.length);
  expect(hostilePacks.length).toBeGreaterThan(60);
});

function failed(name: string): never {
  throw new Error(`No hostile pack is called "${name}".`);
}

/** Those that ask for the most memory. */
const hungry = [
  'a list doubled',
  'dicts merged over and over',
  'many texts kept',
  'recursion on something unknown that doubles',
  'more code than is read',
  'many nodes with a large answer',
];

describe('the memory of a hostile pack', () => {
  test.each(hungry)(
    'stays within its bound in a thread of its own: %s',
    async (name) => {
      const files = new Map<string, PackFiles | string>(hostilePacks).get(name) ?? failed(name);
      const before = process.memoryUsage.rss();
      let most = before;
      const sampler = setInterval(() => {
        most = Math.max(most, process.memoryUsage.rss());
      }, 10);
      try {
        expect(['success', 'failed']).toContain((await extractInWorker(filesOf(files), 'pack')).status);
      } finally {
        clearInterval(sampler);
      }
      expect((most - before) / 2 ** 20).toBeLessThan(600);
    },
    30_000,
  );

  test('stops when its time is up', async () => {
    const { status, reason } = await extractInWorker(filesOf('while True:\n    pass'), 'pack', 1);

    expect([status, reason]).toEqual(['failed', 'It was given up: it takes too long (__init__.py:1).']);
  });

  test('answers what it answers without a thread', async () => {
    const files = filesOf(
      'NODE_CLASS_MAPPINGS = {"A": type("A", (), {"FUNCTION": "f", "RETURN_TYPES": ("X",)})}',
    );

    expect(await extractInWorker(files, 'our-pack')).toEqual(extract(Object.fromEntries(files) as PackFiles));
  });
});

function filesOf(files: PackFiles | string): Map<string, string> {
  return new Map(Object.entries(typeof files === 'string' ? { '__init__.py': files } : files));
}
