import { createHash } from 'node:crypto';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { objectUrl } from '../../lib/bucket/object-url.ts';
import { signUpload } from '../../lib/bucket/signed-upload.ts';

/** The local stack's S3 is as strict as AWS where our code relies on it; here each rule is checked over HTTP. */

let count = 0;
let Key: string;
const Bucket = bucketName();
const md5 = (text: string) => createHash('md5').update(text).digest('base64');

beforeEach(() => {
  count += 1;
  Key = `staging/strict/${count} é+.zip`;
});

const put = (Body: string, more = {}) => s3().send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const head = (VersionId?: string) => s3().send(new HeadObjectCommand({ Bucket, Key, VersionId }));
const remove = (VersionId?: string) => s3().send(new DeleteObjectCommand({ Bucket, Key, VersionId }));

async function get(more: { VersionId?: string | undefined; IfMatch?: string } = {}): Promise<string> {
  const { Body } = await s3().send(new GetObjectCommand({ Bucket, Key, ...more }));
  return String(await Body?.transformToString());
}

function copy(target: string, more = {}, versionId?: string) {
  const path = `${Bucket}/${Key.split('/').map(encodeURIComponent).join('/')}`;
  const CopySource = versionId === undefined ? path : `${path}?versionId=${versionId}`;
  return s3().send(new CopyObjectCommand({ Bucket, Key: target, CopySource, ...more }));
}

const answered = (httpStatusCode: number, name?: string) => ({
  ...(name !== undefined && { name }),
  $metadata: expect.objectContaining({ httpStatusCode }),
});

describe('versions', () => {
  test('each write gets its own version id, and its bytes stay readable under it', async () => {
    const [first, second] = [await put('first'), await put('second')];

    expect(first.VersionId).toMatch(/^[\w-]{32}$/);
    expect(second.VersionId).not.toBe(first.VersionId);
    expect(await get()).toBe('second');
    expect(await get({ VersionId: first.VersionId })).toBe('first');
    expect(await get({ VersionId: second.VersionId })).toBe('second');
    expect(await head()).toMatchObject({ VersionId: second.VersionId, ContentLength: 6 });
    expect(await head(first.VersionId)).toMatchObject({ VersionId: first.VersionId, ContentLength: 5 });
  });

  test('a copy of an old version has its bytes, and names the version that it copied', async () => {
    const first = await put('first');
    const second = await put('second');
    const target = `archives/copied/${count}.zip`;
    const copied = await copy(target, {}, first.VersionId);

    expect(copied).toMatchObject({ CopySourceVersionId: first.VersionId, VersionId: expect.any(String) });
    expect(await (await fetch(objectUrl(target))).text()).toBe('first');
    expect(await copy(target)).toMatchObject({ CopySourceVersionId: second.VersionId });
    expect(await (await fetch(objectUrl(target))).text()).toBe('second');
  });

  test('a deleted version is gone, and the one before it becomes the current one', async () => {
    const [first, second, third] = [await put('first'), await put('second'), await put('third')];
    await remove(second.VersionId);
    await expect(get({ VersionId: second.VersionId })).rejects.toMatchObject(answered(404, 'NoSuchVersion'));
    expect(await get()).toBe('third');
    await remove(third.VersionId);
    expect(await get()).toBe('first');
    await remove(first.VersionId);
    await expect(head()).rejects.toMatchObject(answered(404));
    await expect(remove(first.VersionId)).resolves.toBeDefined();
  });

  test('an object that is deleted without a version id keeps all its versions under a delete marker', async () => {
    const { VersionId } = await put('first');
    const marker = await remove();
    await expect(get()).rejects.toMatchObject(answered(404, 'NoSuchKey'));
    expect(await get({ VersionId })).toBe('first');
    await remove(marker.VersionId);

    expect(await get()).toBe('first');
  });

  test('a version that never existed is answered 404, to read or to copy', async () => {
    await put('first');

    await expect(get({ VersionId: 'x'.repeat(32) })).rejects.toMatchObject(answered(404, 'NoSuchVersion'));
    await expect(copy('archives/never.zip', {}, 'x'.repeat(32))).rejects.toMatchObject(answered(404));
  });
});

describe('conditions', () => {
  test('of a read are true for its own ETag and false for another', async () => {
    const { ETag = '' } = await put('first');

    expect(await get({ IfMatch: ETag })).toBe('first');
    await expect(get({ IfMatch: '"another"' })).rejects.toMatchObject(answered(412));
  });

  test.each([
    ['If-None-Match', () => put('second', { IfNoneMatch: '*' }), 412],
    ['If-Match of another tag', () => put('second', { IfMatch: '"another"' }), 412],
  ])('of a write keep an object as it is: %s', async (_, write, status) => {
    await put('first');

    await expect(write()).rejects.toMatchObject(answered(status));
    expect(await get()).toBe('first');
  });

  test('of a write let it happen if they are true', async () => {
    const { ETag } = await put('first', { IfNoneMatch: '*' });
    await put('second', { IfMatch: ETag });

    expect(await get()).toBe('second');
    Key += '.absent';
    await expect(put('third', { IfMatch: ETag })).rejects.toMatchObject(answered(404));
  });

  test('of a copy are checked on its source and on its target', async () => {
    const { ETag } = await put('first');
    const target = `archives/conditions/${count}.zip`;

    await expect(copy(target, { CopySourceIfMatch: '"another"' })).rejects.toMatchObject(answered(412));
    await copy(target, { CopySourceIfMatch: ETag, IfNoneMatch: '*' });
    await expect(copy(target, { IfNoneMatch: '*' })).rejects.toMatchObject(answered(412));
  });

  test('let exactly one of many concurrent writes succeed', async () => {
    const writes = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) => put(`${index}`, { IfNoneMatch: '*' })),
    );

    expect(writes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a signature', () => {
  test.each(['PUT', 'DELETE', 'GET', 'HEAD', 'POST'])('is required for %s', async (method) => {
    await put('first');
    const body = method === 'PUT' ? { body: 'second' } : {};

    expect((await fetch(objectUrl(Key), { method, ...body })).status).toBe(403);
    expect(await get()).toBe('first');
  });

  test('is required to create a bucket, and to read an old version of an archive', async () => {
    expect((await fetch(new URL('/another-bucket', objectUrl('')), { method: 'PUT' })).status).toBe(403);
    expect((await fetch(new URL('?versionId=null', objectUrl('archives/a.zip')))).status).toBe(403);
  });

  test('is not required to download an archive', async () => {
    await put('first');
    await copy(`archives/open/${count}.zip`);
    const url = objectUrl(`archives/open/${count}.zip`);

    expect(await (await fetch(url)).text()).toBe('first');
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
    expect((await fetch(url, { method: 'PUT', body: 'second' })).status).toBe(403);
  });

  test.each([
    ['x-amz-acl', 'public-read'],
    ['x-amz-meta-owner', 'somebody'],
    ['x-amz-copy-source', '/any/other.zip'],
    ['x-amz-storage-class', 'GLACIER'],
  ])('of an upload does not cover an extra header %s', async (name, value) => {
    const url = await signUpload(Key);
    const upload = (more: Record<string, string>) =>
      fetch(url, { method: 'PUT', body: 'first', headers: { 'content-type': 'application/zip', ...more } });

    expect((await upload({ [name]: value })).status).toBe(403);
    await expect(head()).rejects.toMatchObject(answered(404));
    expect((await upload({})).status).toBe(200);
  });
});

describe('Content-MD5', () => {
  test('is checked, and a body with another digest changes nothing', async () => {
    const first = await put('first', { ContentMD5: md5('first') });

    await expect(put('second', { ContentMD5: md5('other') })).rejects.toMatchObject(
      answered(400, 'BadDigest'),
    );
    await expect(put('second', { ContentMD5: 'bm9uZQ==' })).rejects.toMatchObject(
      answered(400, 'InvalidDigest'),
    );
    expect(await get()).toBe('first');
    expect(await head()).toMatchObject({ VersionId: first.VersionId });
  });
});

test('an upload that breaks off changes nothing', async () => {
  const first = await put('first');
  const url = await signUpload(Key);
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.alloc(100_000));
      setTimeout(() => controller.error(new Error('The client is gone.')), 100);
    },
  });
  const headers = { 'content-type': 'application/zip', 'content-length': '200000' };
  await expect(fetch(url, { method: 'PUT', body, headers, duplex: 'half' } as RequestInit)).rejects.toThrow();

  expect(await get()).toBe('first');
  expect(await head()).toMatchObject({ VersionId: first.VersionId });
});
