import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { ArchiveReader } from '@node-registry/registry-rules/archives/archive-file';
import { inMemory } from '../../support/archive-files.ts';

/* What is read wrong or never ends is noticed where archives are checked; this is what a check costs. */

const content = randomBytes(600_000);
const windowBytes = 256 * 1024;

test('an ArchiveReader reads a window around a position, and inside of it without another request', async () => {
  const ranges: [start: number, end: number][] = [];
  const file = inMemory(content);
  const reader = new ArchiveReader({
    ...file,
    read: (start, end) => {
      ranges.push([start, end]);
      return file.read(start, end);
    },
  });
  for (const position of [1000, 1000, 2000, 1000 + windowBytes - 4])
    expect(await reader.bytesAt(position, 4)).toEqual(content.subarray(position, position + 4));
  const target = Buffer.alloc(10);
  expect(await new Promise((resolve) => reader.read(target, 3, 4, 5000, resolve))).toBeNull();
  expect(target).toEqual(Buffer.concat([Buffer.alloc(3), content.subarray(5000, 5004), Buffer.alloc(3)]));
  expect(ranges).toEqual([[1000, 1000 + windowBytes]]);

  expect((await reader.bytesAt(0, 500_000)).equals(content.subarray(0, 500_000))).toBe(true);
  expect(ranges).toHaveLength(2);
});
