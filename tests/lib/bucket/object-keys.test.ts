import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  archiveKey,
  decodeKey,
  downloadUrl,
  objectUrl,
  stagingKey,
  uploadOf,
} from '../../../lib/bucket/object-keys.ts';
import { configure } from '../../../lib/config.ts';
import { fc } from '@node-registry/testing/properties';
import { signUpload } from '../../../lib/bucket/signed-upload.ts';

const segment = fc.stringMatching(/^[A-Za-z0-9._-]{1,40}$/);
const uploads = fc.record({ nodeId: segment, version: segment, versionId: fc.uuid(), uploadId: fc.uuid() });

describe('the keys in the bucket', () => {
  test('name the upload of a staging object', () => {
    fc.assert(fc.property(uploads, (upload) => expect(uploadOf(stagingKey(upload))).toEqual(upload)));
  });

  test('uploadOf answers nothing for the key of an archive or any other text', () => {
    fc.assert(
      fc.property(uploads, fc.string(), (upload, text) => {
        expect(uploadOf(archiveKey(upload, 'ab12'))).toBeUndefined();
        expect(uploadOf(text)).toBeUndefined();
        expect(uploadOf(`staging/${text}`)).toBeUndefined();
        expect(uploadOf(`${stagingKey(upload)}.part`)).toBeUndefined();
      }),
    );
  });

  test('are written into events as forms write them', () => {
    expect(decodeKey('images/a+b%2B1%20%C3%A9')).toBe('images/a b+1 é');
  });
});

test('the download address starts with DOWNLOAD_BASE_URL and has the key encoded', () => {
  configure({ DOWNLOAD_BASE_URL: 'https://cdn.example.com/nodes/' });

  expect(downloadUrl('archives/a b/1.0.0/x.zip')).toBe(
    'https://cdn.example.com/nodes/archives/a%20b/1.0.0/x.zip',
  );
});

const address = 'https://archives-of-a-stage.s3.eu-west-1.amazonaws.com';

describe('the addresses on AWS', () => {
  beforeAll(() => configure({ AWS_REGION: 'eu-west-1', BUCKET_NAME: 'archives-of-a-stage' }));

  test('objectUrl uses the host of the bucket on AWS, and encodes each part of the key', () => {
    expect(objectUrl('archives/a b/1.0.0+x/é.zip').href).toBe(
      `${address}/archives/a%20b/1.0.0%2Bx/%C3%A9.zip`,
    );
  });

  test('signUpload signs for the host of the bucket on AWS, valid for 15 minutes', async () => {
    const url = new URL(await signUpload('staging/a.zip'));

    expect(url.origin + url.pathname).toBe(`${address}/staging/a.zip`);
    expect(url.searchParams.get('X-Amz-Expires')).toBe('900');
    expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('host');
  });
});
