import { createHook } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { crc32, inflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { checkArchive } from '../../../lib/archives/check-archive.ts';
import { inMemory } from '../../support/archive-files.ts';
import { smallFiles } from '../../support/small-files.ts';
import { zip } from '../../support/zip.ts';

const rounds = 5;

/** The CPU time of the best of a few rounds: other processes only ever add to it. */
async function best(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(began);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}

/** What no check can do without: each file inflated and summed, and the archive hashed. */
function leastWork(archive: Buffer): void {
  for (let at = 0; archive.readUInt32LE(at) === 0x04034b50; ) {
    const start = at + 30 + archive.readUInt16LE(at + 26);
    at = start + archive.readUInt32LE(at + 18);
    crc32(inflateRawSync(archive.subarray(start, at)));
  }
  createHash('sha256').update(archive).digest();
}

test('a small file is checked without a stream or a thread of its own', async () => {
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

/** On a quiet machine it is 1.1 to 1.3; the rest is for a busy one. A stream for each file takes 3 times. */
test('checking small files costs little more than inflating, CRC and SHA-256 of the same bytes', async () => {
  const archive = zip(smallFiles(1000));
  const least = await best(() => leastWork(archive));
  const checked = await best(() => checkArchive(inMemory(archive)));

  console.info(`${(archive.length / 1e6).toFixed(1)} MB: ${(checked / least).toFixed(2)} times`);
  expect(checked).toBeLessThan(least * 1.8);
}, 30_000);

test('checking takes time in proportion to the archive, however deep and alike its names are', async () => {
  const folders = 'folder-of-14/'.repeat(62);
  const archiveOf = (count: number) =>
    zip(
      Array.from({ length: count }, (_, index) => ({
        name: `${folders}${String(index).padStart(5, '0')}/${'x'.repeat(150)}`,
        method: 0,
      })),
    );
  const [small, large] = [archiveOf(1000), archiveOf(10_000)];
  const least = await best(() => checkArchive(inMemory(small)));
  const most = await best(() => checkArchive(inMemory(large)));

  console.info(`1,000 names: ${least.toFixed(0)} ms, 10,000 names: ${most.toFixed(0)} ms`);
  expect(most).toBeLessThan(least * 25);
}, 30_000);
