import { randomBytes, randomUUID } from 'node:crypto';
import type { GetObjectCommandInput } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ArchiveReader } from '../../../lib/archives/reader.ts';
import { findObject, ObjectChanged, type StoredObject, s3 } from '../../../lib/bucket/bucket.ts';
import { putObject } from '../../support/uploads.ts';

const key = `staging/read/1.0.0/${randomUUID()}/upload.zip`;
const content = randomBytes(600_000);
const windowBytes = 256 * 1024;
const ranges: unknown[] = [];
let object: StoredObject;
let reader: ArchiveReader;

beforeAll(async () => {
  await putObject(key, content);
  object = (await findObject(key)) ?? { key, etag: '', sizeBytes: 0 };
  s3.middlewareStack.add(
    (next) => (args) => {
      ranges.push((args.input as GetObjectCommandInput).Range);
      return next(args);
    },
    { step: 'initialize', name: 'ranges' },
  );
});

beforeEach(() => {
  ranges.length = 0;
  reader = new ArchiveReader(object);
});

afterAll(() => {
  s3.middlewareStack.remove('ranges');
});

/** As the zip reader reads: into the middle of a buffer of its own. */
function readInto(target: Buffer, offset: number, length: number, position: number): Promise<Error | null> {
  return new Promise((resolve) => {
    reader.read(target, offset, length, position, resolve);
  });
}

describe('a reader of an archive', () => {
  test('asks S3 for a neighbourhood, and not again for what is in it', async () => {
    for (const position of [1000, 1000, 2000, 1000 + windowBytes - 4]) {
      const bytes = await reader.bytesAt(position, 4);
      expect(bytes).toEqual(content.subarray(position, position + 4));
    }

    expect(ranges).toEqual([`bytes=1000-${1000 + windowBytes - 1}`]);
  });

  test.each([
    ['before it', 999],
    ['partly behind it', 1000 + windowBytes - 3],
    ['far behind it', 500_000],
  ])('asks again for what is %s', async (_, position) => {
    await reader.bytesAt(1000, 4);

    expect(await reader.bytesAt(position, 4)).toEqual(content.subarray(position, position + 4));
    expect(await reader.bytesAt(position, 4)).toEqual(content.subarray(position, position + 4));
    expect(ranges).toHaveLength(2);
    expect(ranges[1]).toBe(`bytes=${position}-${Math.min(position + windowBytes, content.length) - 1}`);
  });

  test('gives more than a neighbourhood at once', async () => {
    expect((await reader.bytesAt(0, 500_000)).equals(content.subarray(0, 500_000))).toBe(true);
  });

  test('gives the last bytes, and refuses those behind them without asking', async () => {
    expect(await reader.bytesAt(599_996, 4)).toEqual(content.subarray(599_996));
    ranges.length = 0;

    await expect(reader.bytesAt(599_997, 4)).rejects.toThrow('position outside the file');
    expect(reader.failure).toBeUndefined();
    expect(ranges).toEqual([]);
  });

  test('writes what the zip reader asks for, and nothing beside it', async () => {
    for (let round = 0; round < 2; round += 1) {
      const target = Buffer.alloc(10);

      expect(await readInto(target, 3, 4, 5000)).toBeNull();
      expect(target).toEqual(Buffer.concat([Buffer.alloc(3), content.subarray(5000, 5004), Buffer.alloc(3)]));
    }
    expect(ranges).toHaveLength(1);
  });

  test('keeps what went wrong on the way to S3', async () => {
    reader = new ArchiveReader({ ...object, etag: '"another"' });

    expect(await readInto(Buffer.alloc(4), 0, 4, 0)).toBeInstanceOf(ObjectChanged);
    expect(reader.failure).toBeInstanceOf(ObjectChanged);
  });
});
