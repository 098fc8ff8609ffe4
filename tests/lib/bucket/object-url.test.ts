import { expect, test } from '@jest/globals';

delete process.env.AWS_ENDPOINT_URL_S3;
process.env.AWS_REGION = 'eu-west-1';
process.env.BUCKET_NAME = 'archives-of-a-stage';
const { objectUrl } = await import('../../../lib/bucket/object-url.ts');
const { downloadUrl } = await import('../../../lib/bucket/download-url.ts');
const { signUpload } = await import('../../../lib/bucket/signed-upload.ts');

const address = 'https://archives-of-a-stage.s3.eu-west-1.amazonaws.com';

test('at AWS an object lies at its bucket’s own address, each part of its key encoded', () => {
  expect(objectUrl('archives/a b/1.0.0+x/é.zip').href).toBe(`${address}/archives/a%20b/1.0.0%2Bx/%C3%A9.zip`);
});

test('an archive is downloaded there where no other base is given', () => {
  expect(downloadUrl('archives/a.zip')).toBe(`${address}/archives/a.zip`);
});

test('and an upload is signed for it, for a quarter of an hour', async () => {
  const url = new URL(await signUpload('staging/a.zip'));

  expect(url.origin + url.pathname).toBe(`${address}/staging/a.zip`);
  expect(url.searchParams.get('X-Amz-Expires')).toBe('900');
  expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('content-type;host');
});
