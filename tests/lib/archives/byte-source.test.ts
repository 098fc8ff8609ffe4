import { expect, test } from '@jest/globals';
import { ByteSource } from '../../../lib/archives/byte-source.ts';

const text = 'the quick brown fox jumps';

/** The text in chunks of these lengths, and whether the stream of chunks was closed. */
function chunked(...lengths: number[]) {
  const watched: string[] = [];
  const stream = { isClosed: false };
  async function* chunks() {
    let start = 0;
    try {
      for (const length of lengths) {
        yield Buffer.from(text.slice(start, start + length));
        start += length;
      }
    } finally {
      stream.isClosed = true;
    }
  }
  const source = new ByteSource(chunks(), (chunk) => watched.push(Buffer.from(chunk).toString()));
  return { source, watched, stream };
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

test('closes a stream that was not read to its end', async () => {
  const { source, stream } = chunked(5, 20);
  await source.take(2);
  await source.close();

  expect(stream.isClosed).toBe(true);
});

test('accepts closing a stream that has no way to be closed', async () => {
  const chunks = {
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true as const, value: undefined }) }),
  };

  await expect(new ByteSource(chunks, () => {}).close()).resolves.toBeUndefined();
});
