import { expect, test } from '@jest/globals';
import { downloadUrl } from '../../../lib/bucket/download-url.ts';
import { objectUrl } from '../../../lib/bucket/object-url.ts';
import { signUpload } from '../../../lib/bucket/signed-upload.ts';
import { configure } from '../../../lib/config.ts';

configure({ AWS_REGION: 'eu-west-1', BUCKET_NAME: 'archives-of-a-stage' });

const address = 'https://archives-of-a-stage.s3.eu-west-1.amazonaws.com';

test('objectUrl uses the host of the bucket on AWS, and encodes each part of the key', () => {
  expect(objectUrl('archives/a b/1.0.0+x/é.zip').href).toBe(`${address}/archives/a%20b/1.0.0%2Bx/%C3%A9.zip`);
});

test('downloadUrl uses the host of the bucket when DOWNLOAD_BASE_URL is not set', () => {
  expect(downloadUrl('archives/a.zip')).toBe(`${address}/archives/a.zip`);
});

test('signUpload signs for the host of the bucket on AWS, valid for 15 minutes', async () => {
  const url = new URL(await signUpload('staging/a.zip'));

  expect(url.origin + url.pathname).toBe(`${address}/staging/a.zip`);
  expect(url.searchParams.get('X-Amz-Expires')).toBe('900');
  expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('host');
});
