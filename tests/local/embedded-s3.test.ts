import * as commands from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { folder } from '@node-registry/testing/folders';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { objectUrl } from '../../lib/bucket/object-keys.ts';
import { signUpload } from '../../lib/bucket/signed-upload.ts';
import { S3Objects } from '../../tools/local/s3-objects.ts';

/** The local stack's S3 is as strict as AWS where our code relies on it; here each rule is checked over HTTP. */

const {
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} = commands;

let count = 0;
let Key: string;
let archive: string;
const Bucket = bucketName();

beforeEach(() => {
  count += 1;
  Key = `staging/strict/${count} é+.zip`;
  archive = `archives/strict/${count}.zip`;
});

const put = (Body: string, more = {}) => s3().send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const head = () => s3().send(new HeadObjectCommand({ Bucket, Key }));

async function get(more = {}): Promise<string> {
  const { Body } = await s3().send(new GetObjectCommand({ Bucket, Key, ...more }));
  return String(await Body?.transformToString());
}

function copy(more = {}) {
  const CopySource = `${Bucket}/${Key.split('/').map(encodeURIComponent).join('/')}`;
  return s3().send(new CopyObjectCommand({ Bucket, Key: archive, CopySource, ...more }));
}

const failure = (httpStatusCode: number, name?: string) => ({
  ...(name !== undefined && { name }),
  $metadata: expect.objectContaining({ httpStatusCode }),
});

test('versions outlive a restart', async () => {
  const objects = new S3Objects(folder);
  const name = { bucket: '.', key: 'a/b.zip' };
  const version = { etag: '"e"', sizeBytes: 1, lastModified: 'now', headers: {} };
  for (const id of ['first', 'second', 'third']) objects.put(name, { id, ...version });
  objects.remove(name, 'third');
  objects.put(name, { id: 'first', ...version, tags: { denied: 'yes' } });
  const restarted = new S3Objects(folder);

  expect(objects.versionsOf(name)).toMatchObject([
    { id: 'first', tags: { denied: 'yes' } },
    { id: 'second' },
  ]);
  expect(restarted.versionsOf(name)).toEqual(objects.versionsOf(name));
  expect(restarted.list('.', 'a/', '')).toMatchObject([{ key: 'a/b.zip' }]);
});

describe('a request that changes nothing', () => {
  const another = '"another"';

  test.each<[string, () => Promise<unknown>, number, string?]>([
    ['a write with If-None-Match', () => put('second', { IfNoneMatch: '*' }), 412],
    ['a write with the If-Match of another tag', () => put('second', { IfMatch: another }), 412],
    ['a read with the If-Match of another tag', () => get({ IfMatch: another }), 412],
    ['a copy onto an object with If-None-Match', () => copy().then(() => copy({ IfNoneMatch: '*' })), 412],
    ['the CRC-32 of another body', () => put('second', { ChecksumCRC32: 'AAAAAA==' }), 400, 'BadDigest'],
    ['another SHA-256', () => put('second', { ChecksumSHA256: `${'A'.repeat(43)}=` }), 400, 'BadDigest'],
    ['a range beyond the end', () => get({ Range: 'bytes=5-9' }), 416, 'InvalidRange'],
    ['an unused operation', () => s3().send(new ListObjectVersionsCommand({ Bucket })), 501],
  ])('fails: %s', async (_, request, status, ...[name]) => {
    const { VersionId } = await put('first');

    await expect(request()).rejects.toMatchObject(failure(status, name));
    expect(await get()).toBe('first');
    expect(await head()).toMatchObject({ VersionId });
  });
});

describe('a signature', () => {
  const statusOf = async (url: string | URL, method: string, headers: Record<string, string> = {}) => {
    const body = method === 'PUT' ? { body: 'second' } : {};
    return (await fetch(url, { method, headers, ...body })).status;
  };

  test('is required for all but the download of an archive', async () => {
    await put('first');
    await copy();
    const url = objectUrl(archive);
    const methods = ['PUT', 'DELETE', 'GET', 'HEAD', 'POST'];
    const unsigned = await Promise.all(methods.map((method) => statusOf(objectUrl(Key), method)));

    expect([unsigned, await get()]).toEqual([Array(5).fill(403), 'first']);

    expect(await statusOf(new URL('/another-bucket', url), 'PUT')).toBe(403);
    expect(await statusOf(new URL('?versionId=null', url), 'GET')).toBe(403);
    const statuses = ['GET', 'HEAD', 'DELETE', 'PUT'].map((method) => statusOf(url, method));
    expect(await Promise.all(statuses)).toEqual([200, 200, 403, 403]);
  });

  test('of an upload covers one key, time, method and set of headers', async () => {
    const url = await signUpload(Key);
    const headers = { 'content-type': 'application/zip' };
    const names = ['acl', 'meta-owner', 'copy-source', 'storage-class'].map((name) => `x-amz-${name}`);
    const statuses = [
      statusOf(url.replace('.zip?', '2.zip?'), 'PUT', headers),
      statusOf(url.replace('Expires=900', 'Expires=9000'), 'PUT', headers),
      statusOf(url, 'DELETE', headers),
      ...names.map((name) => statusOf(url, 'PUT', { ...headers, [name]: 'x' })),
    ];

    expect(await Promise.all(statuses)).toEqual(Array(7).fill(403));
    expect(await statusOf(url, 'PUT', headers)).toBe(200);
  });

  test.each([
    [901_000, 403, 'Request has expired'],
    [600_000, 200, ''],
  ])('of an upload expires after 15 minutes: signed %d ms ago', async (agoMs, status, words) => {
    stopDate(Date.now() - agoMs);
    const url = await signUpload(Key);
    const headers = { 'content-type': 'application/zip' };
    const answer = await fetch(url, { method: 'PUT', body: 'first', headers });

    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(words)]);
  });
});

const page = 'archives/page/1.0.0/a.zip';
/** Pages of other sites are rejected: see local-only.test.ts. */
const origin = 'http://localhost:5173';

describe("a page of this machine, at the local stack's bucket", () => {
  test.each([
    ['PUT', 'content-type', 200, '3600'],
    ['GET', 'range', 200],
    ['PUT', 'content-type,x-amz-acl', 403],
    ['DELETE', 'content-type', 403],
  ])('sends what a stage lets it send: %s with %s gets %i', async (method, names, status, ...[maxAge]) => {
    const headers = { 'access-control-request-method': method, 'access-control-request-headers': names };
    const response = await fetch(objectUrl(page), { method: 'OPTIONS', headers: { ...headers, origin } });

    const { headers: answered } = response;
    expect([response.status, answered.get('access-control-max-age') ?? undefined]).toEqual([status, maxAge]);
    if (status === 200) expect(answered.get('access-control-allow-headers')).toContain(names);
  });
});
