import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ArchiveReader, ByteSource, OutsideFile } from 'registry-rules/archives/archive-file';
import { inMemory } from '../../support/archive-files.ts';

const content = randomBytes(600_000);
const windowBytes = 256 * 1024;
const ranges: [start: number, end: number][] = [];
const stored = inMemory(content);
const file = {
  ...stored,
  read: (start: number, end: number) => {
    ranges.push([start, end]);
    return stored.read(start, end);
  },
};
let reader: ArchiveReader;

beforeEach(() => {
  ranges.length = 0;
  reader = new ArchiveReader(file);
});

/** Reads like the zip reader: into the middle of its own buffer. */
function readInto(target: Buffer, offset: number, length: number, position: number): Promise<Error | null> {
  return new Promise((resolve) => {
    reader.read(target, offset, length, position, resolve);
  });
}

describe('ArchiveReader', () => {
  test('reads a window around a position, and reads inside of it without another request', async () => {
    for (const position of [1000, 1000, 2000, 1000 + windowBytes - 4]) {
      const bytes = await reader.bytesAt(position, 4);
      expect(bytes).toEqual(content.subarray(position, position + 4));
    }

    expect(ranges).toEqual([[1000, 1000 + windowBytes]]);
  });

  test.each([
    ['before it', 999],
    ['partly after it', 1000 + windowBytes - 3],
    ['far after it', 500_000],
  ])('reads another window for a position %s', async (_, position) => {
    await reader.bytesAt(1000, 4);

    expect(await reader.bytesAt(position, 4)).toEqual(content.subarray(position, position + 4));
    expect(await reader.bytesAt(position, 4)).toEqual(content.subarray(position, position + 4));
    expect(ranges).toHaveLength(2);
    expect(ranges[1]).toEqual([position, Math.min(position + windowBytes, content.length)]);
  });

  test('reads more than a window at once', async () => {
    expect((await reader.bytesAt(0, 500_000)).equals(content.subarray(0, 500_000))).toBe(true);
  });

  test('reads the last bytes, and rejects a position after them without a request', async () => {
    expect(await reader.bytesAt(599_996, 4)).toEqual(content.subarray(599_996));
    ranges.length = 0;

    await expect(reader.bytesAt(599_997, 4)).rejects.toThrow(OutsideFile);
    expect(reader.failure).toBeUndefined();
    expect(ranges).toEqual([]);
  });

  test('writes into the target only the bytes that the zip reader asks for', async () => {
    for (let round = 0; round < 2; round += 1) {
      const target = Buffer.alloc(10);

      expect(await readInto(target, 3, 4, 5000)).toBeNull();
      expect(target).toEqual(Buffer.concat([Buffer.alloc(3), content.subarray(5000, 5004), Buffer.alloc(3)]));
    }
    expect(ranges).toHaveLength(1);
  });

  test('keeps the error of a file that cannot be read', async () => {
    const gone = new Error('The file is gone.');
    reader = new ArchiveReader({ ...file, read: () => Promise.reject(gone) });

    expect(await readInto(Buffer.alloc(4), 0, 4, 0)).toBe(gone);
    expect(reader.failure).toBe(gone);
  });
});

const text = 'the quick brown fox jumps';

/** The text in chunks of these lengths. */
function chunked(...lengths: number[]) {
  const watched: string[] = [];
  async function* chunks() {
    let start = 0;
    for (const length of lengths) {
      yield Buffer.from(text.slice(start, start + length));
      start += length;
    }
  }
  const source = new ByteSource(chunks(), (chunk) => watched.push(Buffer.from(chunk).toString()));
  return { source, watched };
}

test.each([
  ['in one chunk', [25]],
  ['byte by byte', Array.from(text, () => 1)],
  ['with empty chunks between', [0, 4, 0, 0, 6, 15, 0]],
])('reads a stream that comes %s in pieces of the exact length asked for', async (_, lengths) => {
  const { source, watched } = chunked(...lengths);

  expect((await source.take(3)).toString()).toBe('the');
  expect(source.position).toBe(3);
  expect((await source.take(0)).length).toBe(0);
  expect((await source.take(7)).toString()).toBe(' quick ');
  expect(source.position).toBe(10);
  await source.drain();
  expect(source.position).toBe(25);
  expect(watched.join('')).toBe(text);
});

test('rejects a stream that ends before the last byte asked for', async () => {
  expect((await chunked(10, 15).source.take(25)).toString()).toBe(text);
  await expect(chunked(10, 15).source.take(26)).rejects.toThrow(new Error('The stream ended early.'));
});

test('takes no more chunks from a stream than it needs', async () => {
  const { source, watched } = chunked(5, 5, 15);
  await source.take(5);

  expect(watched).toEqual(['the q']);
});

test('accepts closing a stream that has no way to be closed', async () => {
  const chunks = {
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true as const, value: undefined }) }),
  };

  await expect(new ByteSource(chunks, () => {}).close()).resolves.toBeUndefined();
});
