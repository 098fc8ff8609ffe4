import { createHook } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { checkArchive } from '@node-registry/registry-rules/archives/check-archive';
import { inMemory } from '../../support/archive-files.ts';
import { cpuMsOf } from '@node-registry/testing/cpu';
import { zip } from '@node-registry/testing/zip';

const rounds = 3;

/** The minimum CPU times of a few rounds, in turns: other work only ever adds to them. */
async function minTimes(one: () => unknown, other: () => unknown): Promise<[number, number]> {
  const times: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round += 1) {
    times[0] = Math.min(times[0], await cpuMsOf(one));
    times[1] = Math.min(times[1], await cpuMsOf(other));
  }
  return times;
}

test('checkArchive checks a small file without a stream or a thread of its own', async () => {
  const count = 200;
  // 15 KB each, and half of that packed.
  const archive = zip(
    Array.from({ length: count }, (_, index) => ({
      name: `${index}.py`,
      data: randomBytes(7500).toString('hex'),
    })),
  );
  const created: Record<string, number> = {};
  const hook = createHook({
    init(_, type) {
      created[type] = (created[type] ?? 0) + 1;
    },
  }).enable();
  await checkArchive(inMemory(archive));
  hook.disable();

  const { PROMISE: promises = 0, ...others } = created;
  expect(promises).toBeLessThan(count * 40);
  expect(others).toMatchObject({ ZLIB: count });
  expect(Object.values(others).reduce((sum, number) => sum + number, 0)).toBeLessThan(count * 1.5);
});

test('checkArchive takes time in proportion to the archive, even with deep and similar names', async () => {
  const folders = 'folder-of-14/'.repeat(62);
  const archiveOf = (count: number) =>
    zip(
      Array.from({ length: count }, (_, index) => ({
        name: `${folders}${String(index).padStart(5, '0')}/${'x'.repeat(150)}`,
        method: 0,
      })),
    );
  const [small, large] = [archiveOf(1000), archiveOf(10_000)];
  const [smallTime, largeTime] = await minTimes(
    () => checkArchive(inMemory(small)),
    () => checkArchive(inMemory(large)),
  );

  // Ten times the names; time that grows with their square would be a hundred times.
  expect(largeTime).toBeLessThan(smallTime * 25);
});
