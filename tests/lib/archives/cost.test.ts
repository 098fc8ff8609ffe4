import { createHook } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { crc32, inflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { checkArchive } from '../../../lib/archives/check-archive.ts';
import { inMemory } from '../../support/archive-files.ts';
import { smallFiles } from '../../support/small-files.ts';
import { zip } from '../../support/zip.ts';

const rounds = 8;

/** The CPU time of one run, in milliseconds. */
async function cpuTime(work: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/** The minimum CPU times of a few rounds, in turns: other processes only ever add to them. */
async function minTimes(one: () => unknown, other: () => unknown): Promise<[number, number]> {
  const times: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round += 1) {
    times[0] = Math.min(times[0], await cpuTime(one));
    times[1] = Math.min(times[1], await cpuTime(other));
  }
  return times;
}

/** The work that every check has to do: inflate and sum each file, and hash the archive. */
function requiredWork(archive: Buffer): void {
  for (let at = 0; archive.readUInt32LE(at) === 0x04034b50; ) {
    const start = at + 30 + archive.readUInt16LE(at + 26);
    at = start + archive.readUInt32LE(at + 18);
    crc32(inflateRawSync(archive.subarray(start, at)));
  }
  createHash('sha256').update(archive).digest();
}

test('checkArchive checks a small file without a stream or a thread of its own', async () => {
  const count = 200;
  const archive = zip(smallFiles(count));
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

/** On a quiet machine the ratio is 1.1 to 1.3; the margin is for a busy one. With a stream for each file it is 3. */
test('checkArchive costs at most 1.8 times what inflating, CRC and SHA-256 of small files cost', async () => {
  const archive = zip(smallFiles(1000));
  const [required, checked] = await minTimes(
    () => requiredWork(archive),
    () => checkArchive(inMemory(archive)),
  );

  console.info(`${(archive.length / 1e6).toFixed(1)} MB: ${(checked / required).toFixed(2)} times`);
  expect(checked).toBeLessThan(required * 1.8);
}, 30_000);

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

  console.info(`1,000 names: ${smallTime.toFixed(0)} ms, 10,000 names: ${largeTime.toFixed(0)} ms`);
  expect(largeTime).toBeLessThan(smallTime * 25);
}, 30_000);
