import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Sha256 } from '../../lib/aws/signing.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { objectUrl } from '../../lib/bucket/object-keys.ts';
import { signUpload } from '../../lib/bucket/signed-upload.ts';
import { S3Objects } from '../../tools/local/s3-objects.ts';

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
  test('keep the bytes of each write readable under its own version id', async () => {
    const [first, second] = [await put('first'), await put('second')];

    expect(first.VersionId).toMatch(/^[\w-]{32}$/);
    expect(second.VersionId).not.toBe(first.VersionId);
    expect(await get()).toBe('second');
    expect(await get({ VersionId: first.VersionId })).toBe('first');
    expect(await get({ VersionId: second.VersionId })).toBe('second');
    expect(await head()).toMatchObject({ VersionId: second.VersionId, ContentLength: 6 });
    expect(await head(first.VersionId)).toMatchObject({ VersionId: first.VersionId, ContentLength: 5 });
  });

  test('keep the bytes of a copied old version, and name the version that was copied', async () => {
    const first = await put('first');
    const second = await put('second');
    const target = `archives/copied/${count}.zip`;
    const copied = await copy(target, {}, first.VersionId);

    expect(copied).toMatchObject({ CopySourceVersionId: first.VersionId, VersionId: expect.any(String) });
    expect(await (await fetch(objectUrl(target))).text()).toBe('first');
    expect(await copy(target)).toMatchObject({ CopySourceVersionId: second.VersionId });
    expect(await (await fetch(objectUrl(target))).text()).toBe('second');
  });

  test('make the one before a deleted version the current one', async () => {
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

  test('stay under a delete marker when an object is deleted without a version id', async () => {
    const { VersionId } = await put('first');
    const marker = await remove();
    await expect(get()).rejects.toMatchObject(answered(404, 'NoSuchKey'));
    expect(await get({ VersionId })).toBe('first');
    await remove(marker.VersionId);

    expect(await get()).toBe('first');
  });

  test('answer 404 to reading or copying a version that never existed', async () => {
    await put('first');

    await expect(get({ VersionId: 'x'.repeat(32) })).rejects.toMatchObject(answered(404, 'NoSuchVersion'));
    await expect(copy('archives/never.zip', {}, 'x'.repeat(32))).rejects.toMatchObject(answered(404));
  });
});

describe('conditions', () => {
  test('hold for a read’s own ETag, and not for another', async () => {
    const { ETag = '' } = await put('first');

    expect(await get({ IfMatch: ETag })).toBe('first');
    await expect(get({ IfMatch: '"another"' })).rejects.toMatchObject(answered(412));
  });

  test.each([
    ['If-None-Match', () => put('second', { IfNoneMatch: '*' }), 412],
    ['If-Match of another tag', () => put('second', { IfMatch: '"another"' }), 412],
  ])('keep an object as it is: %s', async (_, write, status) => {
    await put('first');

    await expect(write()).rejects.toMatchObject(answered(status));
    expect(await get()).toBe('first');
  });

  test('let a write happen if they hold', async () => {
    const { ETag } = await put('first', { IfNoneMatch: '*' });
    await put('second', { IfMatch: ETag });

    expect(await get()).toBe('second');
    Key += '.absent';
    await expect(put('third', { IfMatch: ETag })).rejects.toMatchObject(answered(404));
  });

  test('apply to the source and the target of a copy', async () => {
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
  test.each(['PUT', 'DELETE', 'GET', 'HEAD', 'POST'])('requires a signature for %s', async (method) => {
    await put('first');
    const body = method === 'PUT' ? { body: 'second' } : {};

    expect((await fetch(objectUrl(Key), { method, ...body })).status).toBe(403);
    expect(await get()).toBe('first');
  });

  test('requires a signature to create a bucket, and to read an old version of an archive', async () => {
    expect((await fetch(new URL('/another-bucket', objectUrl('')), { method: 'PUT' })).status).toBe(403);
    expect((await fetch(new URL('?versionId=null', objectUrl('archives/a.zip')))).status).toBe(403);
  });

  test('does not require a signature to download an archive', async () => {
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
  ])('does not cover an extra header %s of an upload', async (name, value) => {
    const url = await signUpload(Key);
    const upload = (more: Record<string, string>) =>
      fetch(url, { method: 'PUT', body: 'first', headers: { 'content-type': 'application/zip', ...more } });

    expect((await upload({ [name]: value })).status).toBe(403);
    await expect(head()).rejects.toMatchObject(answered(404));
    expect((await upload({})).status).toBe(200);
  });
});

describe('a signed URL', () => {
  const headers = { 'content-type': 'application/zip' };
  const put = (url: string, body = 'first') => fetch(url, { method: 'PUT', body, headers });

  test('works for the key, the method and the time that it names', async () => {
    const url = await signUpload(Key);
    const other = url.replace('.zip?', '2.zip?');
    const longer = url.replace('X-Amz-Expires=900', 'X-Amz-Expires=9000');

    expect([(await put(other)).status, (await put(longer)).status]).toEqual([403, 403]);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
    expect((await put(url)).status).toBe(200);
  });

  test('expires', async () => {
    const url = await presign({ signingDate: new Date(Date.now() - 901_000) });
    const answer = await put(url);

    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining('Request has expired'),
    ]);
    expect((await put(await presign({ signingDate: new Date(Date.now() - 600_000) }))).status).toBe(200);
  });

  test('rejects the checksum of another body', async () => {
    const query = { 'x-amz-checksum-crc32': 'AAAAAA==' };

    expect((await put(await presign({ query }))).status).toBe(400);
    expect((await put(await presign({ query }), '')).status).toBe(200);
  });

  /** As the SDK's presigner does by itself, with what signUpload leaves out. */
  async function presign(more: { signingDate?: Date; query?: Record<string, string> }): Promise<string> {
    const { protocol, hostname, host, pathname } = objectUrl(Key);
    const credentials = { accessKeyId: 'LOCALACCESSKEY', secretAccessKey: 'LOCALSECRETKEY' };
    const presigner = new S3RequestPresigner({ credentials, region: 'us-east-1', sha256: Sha256 });
    const { signingDate = new Date(), query = {} } = more;
    const request = { method: 'PUT', protocol, hostname, path: pathname, query, headers: { host } };
    const signed = await presigner.presign(request, { expiresIn: 900, signingDate });
    const signedQuery = new URLSearchParams(signed.query as Record<string, string>);
    return `${signed.protocol}//${signed.headers.host}${signed.path}?${signedQuery}`;
  }
});

describe('a range', () => {
  test.each([
    ['bytes=1-3', 206, 'irs', 'bytes 1-3/5'],
    ['bytes=3-', 206, 'st', 'bytes 3-4/5'],
    ['bytes=-2', 206, 'st', 'bytes 3-4/5'],
    ['bytes=0-99', 206, 'first', 'bytes 0-4/5'],
    ['lines=1-2', 200, 'first', null],
  ])('answers %s with %i', async (range, status, text, contentRange) => {
    await put('first');
    await copy(`archives/range/${count}.zip`);
    const answer = await fetch(objectUrl(`archives/range/${count}.zip`), { headers: { range } });

    expect([answer.status, await answer.text()]).toEqual([status, text]);
    expect(answer.headers.get('content-range')).toBe(contentRange);
  });

  test('returns 416 beyond the end', async () => {
    await put('first');
    const beyond = s3().send(new GetObjectCommand({ Bucket, Key, Range: 'bytes=5-9' }));

    await expect(beyond).rejects.toMatchObject(answered(416, 'InvalidRange'));
  });
});

describe('a listing', () => {
  test('contains the current objects under a prefix, page by page', async () => {
    const prefix = `index/listed & ${count}/`;
    for (const name of ['b', 'a', 'é<1>', 'c'])
      await s3().send(new PutObjectCommand({ Bucket, Key: prefix + name, Body: name }));
    await s3().send(new DeleteObjectCommand({ Bucket, Key: `${prefix}b` }));
    const list = (more = {}) =>
      s3().send(new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 2, ...more }));
    const first = await list();
    const second = await list({ ContinuationToken: first.NextContinuationToken });

    expect(first.Contents?.map(({ Key }) => Key)).toEqual([`${prefix}a`, `${prefix}c`]);
    expect(first.Contents?.[0]).toMatchObject({ Size: 1, ETag: expect.stringMatching(/^"\w{32}"$/) });
    expect(second.Contents?.map(({ Key }) => Key)).toEqual([`${prefix}é<1>`]);
    expect([first.IsTruncated, second.IsTruncated]).toEqual([true, false]);
  });
});

test('answers 304 to a download that the reader has already', async () => {
  const { ETag = '' } = await put('first');
  await copy(`archives/cached/${count}.zip`);
  const url = objectUrl(`archives/cached/${count}.zip`);

  expect((await fetch(url, { headers: { 'if-none-match': ETag } })).status).toBe(304);
  expect((await fetch(url, { headers: { 'if-none-match': '"another"' } })).status).toBe(200);
});

test('answers 501 to an operation that the project does not use', async () => {
  await expect(s3().send(new ListObjectVersionsCommand({ Bucket }))).rejects.toMatchObject(answered(501));
});

test('objects and their versions outlive a restart', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'node-registry-s3-'));
  const objects = new S3Objects(directory);
  const name = { bucket: 'bucket', key: 'a/b.zip' };
  const version = { etag: '"e"', sizeBytes: 1, lastModified: 'now', headers: {} };
  objects.add(name, { id: 'first', isMarker: false, ...version });
  objects.add(name, { id: 'marker', isMarker: true, ...version });
  const restarted = new S3Objects(directory);

  expect(restarted.versionsOf(name)).toEqual(objects.versionsOf(name));
  expect(restarted.current(name)).toBeUndefined();
  restarted.remove(name, 'marker');
  expect([...new S3Objects(directory).list('bucket', 'a/', '')]).toMatchObject([{ key: 'a/b.zip' }]);
  await rm(directory, { recursive: true });
});

describe('Content-MD5', () => {
  test('rejects a body with another digest, and changes nothing', async () => {
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

test('changes nothing when an upload breaks off', async () => {
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
