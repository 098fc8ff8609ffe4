import { describe, expect, test } from '@jest/globals';
import { objectUrl } from '../../lib/bucket/object-keys.ts';
import { signUpload } from '../../lib/bucket/signed-upload.ts';

const Key = 'archives/page/1.0.0/a.zip';
/** Pages of other sites are rejected: see local-only.test.ts. */
const origin = 'http://localhost:5173';

describe("a page of this machine, at the local stack's bucket", () => {
  test.each([
    ['PUT', 'content-type', 200],
    ['GET', 'range', 200],
    ['PUT', 'content-type,x-amz-acl', 403],
    ['GET', 'authorization', 403],
    ['DELETE', 'content-type', 403],
    ['POST', 'content-type', 403],
  ])('sends what a stage lets it send: %s with %s gets %i', async (method, names, status) => {
    const headers = { 'access-control-request-method': method, 'access-control-request-headers': names };
    const response = await fetch(objectUrl(Key), { method: 'OPTIONS', headers: { ...headers, origin } });

    expect(response.status).toBe(status);
  });

  test('reads the headers that a stage exposes of uploads and downloads', async () => {
    const headers = { 'content-type': 'application/zip', origin };
    const upload = await fetch(await signUpload(Key), { method: 'PUT', body: 'bytes', headers });
    const download = await fetch(objectUrl(Key), { headers: { origin } });

    expect(upload.headers.get('access-control-allow-origin')).toBe('*');
    expect(upload.headers.get('access-control-expose-headers')).toBe('ETag');
    expect(upload.headers.get('access-control-max-age')).toBe('3600');
    expect(download.headers.get('access-control-expose-headers')).toBe('Content-Length, ETag');
  });
});
