import { createHash, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { bucket, copyOnce, findObject, ObjectChanged, StoredObject, s3 } from '../../../lib/bucket/bucket.ts';
import { SilentServer } from '../../support/silent-server.ts';
import { putObject } from '../../support/uploads.ts';

const first = Buffer.from('the first bytes');
const others = Buffer.from('other bytes than the first');

async function stored(bytes = first): Promise<StoredObject> {
  const key = `staging/${randomUUID()}/a b é.zip`;
  await putObject(key, bytes);
  return new StoredObject(key, `"${createHash('md5').update(bytes).digest('hex')}"`, bytes.length);
}

const elsewhere = () => `archives/${randomUUID()}/a b é.zip`;

afterEach(() => {
  s3.middlewareStack.remove('answer');
});

/** Lets S3 answer as it rarely does. */
function answerWith(output: object): void {
  s3.middlewareStack.add((next) => async (args) => ({ ...(await next(args)), output: output as never }), {
    step: 'initialize',
    name: 'answer',
  });
}

function failWith(httpStatusCode: number, command?: string): void {
  const fail = () => Promise.reject(Object.assign(new Error('failed'), { $metadata: { httpStatusCode } }));
  s3.middlewareStack.add(
    (next, { commandName }) => ((command ?? commandName) === commandName ? fail : next),
    {
      step: 'initialize',
      name: 'answer',
    },
  );
}

describe('an object', () => {
  test('is found with what its later reads hold on to', async () => {
    const object = await stored();

    expect(await findObject(object.key)).toEqual(object);
    expect(await findObject(elsewhere())).toBeUndefined();
  });

  test.each([403, 500])('is not taken for missing where S3 answers %i', async (status) => {
    failWith(status);

    await expect(findObject('any')).rejects.toThrow('failed');
  });

  test('is read from a first byte up to, not including, a last', async () => {
    const object = await stored();

    expect((await object.read(4, 9)).toString()).toBe('first');
    expect(await object.read(0, first.length)).toEqual(first);
    await expect(object.read(4, 99)).rejects.toThrow(new Error('S3 sent 11 of 95 bytes.'));
  });

  test('is read as a stream', async () => {
    expect(await buffer(await (await stored()).stream())).toEqual(first);
  });

  test('is never read as other bytes than were found', async () => {
    const object = await stored();
    await putObject(object.key, others);

    await expect(object.read(0, 5)).rejects.toThrow(ObjectChanged);
    await expect(object.stream()).rejects.toThrow(ObjectChanged);
  });

  test('that is gone has changed', async () => {
    await expect(new StoredObject(elsewhere(), '"any"', 1).stream()).rejects.toThrow(ObjectChanged);
  });

  test('that cannot be read for another reason has not', async () => {
    const object = await stored();
    failWith(503);

    await expect(object.stream()).rejects.toThrow('failed');
  });

  test('without a body is a fault of S3', async () => {
    const object = await stored();
    answerWith({ Body: undefined });

    await expect(object.stream()).rejects.toThrow(new Error('S3 sent no stream.'));
  });
});

describe('a copy', () => {
  test('is the same bytes, to be kept by whoever downloads them', async () => {
    const target = elsewhere();
    await copyOnce(await stored(), target);
    const where = { Bucket: bucket, Key: target };
    const { Body } = await s3.send(new GetObjectCommand(where));

    expect(Buffer.from((await Body?.transformToByteArray()) ?? [])).toEqual(first);
    expect(await s3.send(new HeadObjectCommand(where))).toMatchObject({
      ContentType: 'application/zip',
      CacheControl: 'public, max-age=31536000, immutable',
    });
  });

  test('leaves what is there already', async () => {
    const target = elsewhere();
    await copyOnce(await stored(), target);
    const { etag } = (await findObject(target)) ?? {};
    await copyOnce(await stored(others), target);

    expect(await findObject(target)).toMatchObject({ etag, sizeBytes: first.length });
  });

  test('is made of the bytes that were found, or not at all', async () => {
    const [object, target] = [await stored(), elsewhere()];
    await putObject(object.key, others);

    const refusal = await copyOnce(object, target).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(ObjectChanged);
    expect(refusal).toMatchObject({ message: object.key, cause: expect.anything() });
    expect(await findObject(target)).toBeUndefined();
  });

  test('that fails has failed, even where something is there already', async () => {
    const [object, target] = [await stored(), elsewhere()];
    await copyOnce(object, target);
    failWith(500, 'CopyObjectCommand');

    await expect(copyOnce(object, target)).rejects.toThrow('failed');
  });
});

test('S3 that takes a request and never answers is given up after half a minute, and asked three times', async () => {
  const silence = new SilentServer();
  await silence.listen();
  s3.middlewareStack.add(
    (next) => (args) => {
      silence.redirect(args.request);
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'answer' },
  );
  const { error, ms } = await silence.outwait(() => findObject('any'), { leapMs: 29_900, mostMs: 120_000 });
  jest.useRealTimers();
  silence.stop();

  expect(error).toMatchObject({ name: 'TimeoutError' });
  expect(silence.asked).toBe(3);
  expect(ms).toBeGreaterThanOrEqual(90_000);
});
