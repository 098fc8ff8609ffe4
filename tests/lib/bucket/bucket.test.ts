import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import {
  bucketName,
  copyOnce,
  deleteObject,
  findObject,
  ObjectChanged,
  s3,
  type StoredObject,
} from '../../../lib/bucket/bucket.ts';
import { intercept } from '../../support/intercept.ts';
import { outwait, redirectCalls, startSilentServer } from '../../support/silent-server.ts';
import { putObject } from '../../support/uploads.ts';
import { readText } from '../../../lib/bucket/public-file.ts';

const first = Buffer.from('the first bytes');
const others = Buffer.from('other bytes than the first');

async function stored(bytes: Buffer = first): Promise<StoredObject> {
  const key = `staging/${randomUUID()}/a b+é.zip`;
  await putObject(key, bytes);
  const object = await findObject(key);
  if (!object) throw new Error('The object was not put.');
  return object;
}

const elsewhere = () => `archives/${randomUUID()}/a b+é.zip`;

afterEach(() => void s3().middlewareStack.remove('answer'));

/** Answers each copy in S3's own words. */
function answerCopies(statusCode: number, code: string): void {
  s3().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'CopyObjectCommand') return next(args);
        const xml = `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>m</Message></Error>`;
        const response = { statusCode, headers: {}, body: Readable.from([Buffer.from(xml)]) };
        return { response, output: {} as never };
      },
    { step: 'deserialize', priority: 'low', name: 'answer' },
  );
}

describe('an object in the bucket', () => {
  test('returns its version id and size, which later reads depend on', async () => {
    const object = await stored();

    expect(object).toMatchObject({ versionId: expect.stringMatching(/^.{32}$/), sizeBytes: first.length });
    expect(await findObject(object.key)).toEqual(object);
    expect(await findObject(elsewhere())).toBeUndefined();
  });

  test.each([403, 500])('is neither missing nor changed when S3 answers %i', async (status) => {
    const object = await stored();
    const failure = Object.assign(new Error('failed'), { $metadata: { httpStatusCode: status } });
    intercept(s3(), () => Promise.reject(failure));

    await expect(findObject('any')).rejects.toThrow('failed');
    await expect(object.stream()).rejects.toThrow('failed');
  });

  test('reads an object from a first byte up to, but not including, a last byte', async () => {
    const object = await stored();

    expect((await object.read(4, 9)).toString()).toBe('first');
    expect(await object.read(0, first.length)).toEqual(first);
    await expect(object.read(4, 99)).rejects.toThrow(new Error('S3 sent 11 of 95 bytes.'));
  });

  test('is the version that was found, whatever is put under its key', async () => {
    const object = await stored();
    await putObject(object.key, others);
    const target = elsewhere();
    await copyOnce(object, target);

    expect(await object.read(0, first.length)).toEqual(first);
    expect(await buffer(await object.stream())).toEqual(first);
    expect(await (await findObject(target))?.read(0, first.length)).toEqual(first);
  });

  test('fails with ObjectChanged when it is gone', async () => {
    const object = await stored();
    await deleteObject(object);

    await expect(object.stream()).rejects.toThrow(ObjectChanged);
    await expect(object.read(0, 1)).rejects.toThrow(ObjectChanged);
    await expect(deleteObject(object)).resolves.toBeUndefined();
  });

  test('deletes the version that was found, and no other', async () => {
    const object = await stored();
    await putObject(object.key, others);
    await deleteObject(object);

    expect(await findObject(object.key)).toMatchObject({ sizeBytes: others.length });
  });

  test('rejects an object when the bucket keeps no versions', async () => {
    const { key } = await stored();
    intercept(s3(), async () => ({ ContentLength: 1 }));

    await expect(findObject(key)).rejects.toThrow('Versioning is off in the bucket');
  });
});

describe('copyOnce', () => {
  test('makes a copy of the same bytes that caches keep, and leaves it as it is later', async () => {
    const [object, target] = [await stored(), elsewhere()];
    await copyOnce(object, target);
    const copied = await findObject(target);
    await copyOnce(await stored(others), target);

    expect(await findObject(target)).toEqual(copied);
    expect(await copied?.read(0, first.length)).toEqual(first);
    expect(await s3().send(new HeadObjectCommand({ Bucket: bucketName(), Key: target }))).toMatchObject({
      ContentType: 'application/zip',
      CacheControl: 'public, max-age=31536000, immutable',
    });
  });

  test('fails when the version to copy is gone', async () => {
    const [object, target] = [await stored(), elsewhere()];
    await deleteObject(object);
    await putObject(object.key, others);

    const rejection = await copyOnce(object, target).catch((error: Error) => error);
    expect(rejection).toBeInstanceOf(ObjectChanged);
    expect(rejection).toMatchObject({ message: object.key, cause: expect.anything() });
    expect(await findObject(target)).toBeUndefined();
  });

  test.each([
    [409, 'ConditionalRequestConflict'],
    // A 200 with an error inside.
    [200, 'InternalError'],
  ])('fails when S3 answers %i %s: another try finds out whether there is a copy', async (status, code) => {
    answerCopies(status, code);

    await expect(copyOnce(await stored(), elsewhere())).rejects.toMatchObject({ name: code });
  });
});

test('gives up a request that S3 never answers after half a minute and three sends', async () => {
  const silence = await startSilentServer();
  redirectCalls(s3(), silence);
  const { error, ms } = await outwait(silence, () => findObject('any'), { leapMs: 29_900, maxMs: 120_000 });

  expect(error).toMatchObject({ name: 'TimeoutError' });
  expect(silence.asked).toBe(3);
  const limits = { connectionTimeout: 1000, requestTimeout: 30_000, socketTimeout: 10_000 };
  expect(Object(s3().config.requestHandler).httpHandlerConfigs()).toMatchObject(limits);
  expect(ms).toBeGreaterThanOrEqual(90_000);
});

test('gives up a text object within three seconds and two sends', async () => {
  const silence = await startSilentServer();
  redirectCalls(s3(), silence);
  // Node's own does not know the clock of the test.
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(), ms);
    return ending.signal;
  });
  const read = () => readText({ deadline: Date.now() + 60_000 }, 'any');
  const { error, ms } = await outwait(silence, read, { leapMs: 1400, maxMs: 20_000 });

  expect([error instanceof Error, silence.asked]).toEqual([true, 2]);
  expect(ms).toBeLessThanOrEqual(3100);
});
