import { createHash, createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { signUpload } from '../../../lib/bucket/signed-upload.ts';
import { Sha256 } from '../../../lib/aws/signing.ts';

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** The signature that S3 computes of a request with this URL, by AWS's description of version 4. */
function signatureOf({ host, pathname, searchParams }: URL): string {
  const [, ...scope] = String(searchParams.get('X-Amz-Credential')).split('/');
  const query = [...searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .sort()
    .join('&');
  const headers = `host:${host}\n\nhost`;
  const request = `PUT\n${pathname}\n${query}\n${headers}\nUNSIGNED-PAYLOAD`;
  const hash = createHash('sha256').update(request).digest('hex');
  const text = ['AWS4-HMAC-SHA256', searchParams.get('X-Amz-Date'), scope.join('/'), hash].join('\n');
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${process.env.AWS_SECRET_ACCESS_KEY}`);
  return hmac(key, text).toString('hex');
}

test.each([['staging/node/1.0.0/id/upload.zip'], ['staging/node/1.0.0-rc.1/id/up load+(1)é.zip']])(
  'signUpload signs the upload of %s as S3 expects',
  async (key) => {
    const url = new URL(await signUpload(key));

    expect(decodeURIComponent(url.pathname)).toBe(`/${process.env.BUCKET_NAME}/${key}`);
    expect(url.searchParams.get('X-Amz-Signature')).toBe(signatureOf(url));
  },
);

test('Sha256 hashes with the right key when it has cached many', async () => {
  const keys = Array.from({ length: 130 }, (_, index) => (index % 2 ? `key ${index}` : Buffer.from([index])));

  for (const key of [...keys, ...keys]) {
    const hash = new Sha256(key);
    hash.update(Buffer.from('text'));
    expect(await hash.digest()).toEqual(hmac(key, 'text'));
  }
});

test('Sha256 without a key is the plain hash', async () => {
  const hash = new Sha256();
  hash.update(Buffer.from('te'));
  hash.update(Buffer.from('xt'));

  expect(await hash.digest()).toEqual(createHash('sha256').update('text').digest());
});
