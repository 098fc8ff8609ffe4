import { expect, test } from '@jest/globals';
import type { S3Event } from 'aws-lambda';
import { handler } from '../../functions/finalize-upload.ts';
import { bucketName } from '../../lib/bucket/bucket.ts';
import { stagingKey } from '../../lib/bucket/object-keys.ts';
import { finalizeOnUpload } from '../../tools/local/finalize-on-upload.ts';
import { seed } from '../../tools/local/seed.ts';
import { startS3 } from '../../tools/local/s3.ts';
import { eventOf, publish, put, storedVersion } from '../support/uploads.ts';
import { folder } from '@node-registry/testing/folders';
import { zip } from '@node-registry/testing/zip';

const upload = { nodeId: 'a', version: '1.0.0', versionId: 'b', uploadId: 'c' };

function localBucket() {
  const listeners: ((event: S3Event) => void)[] = [];
  return {
    url: '',
    stop: async () => {},
    onObjectCreated: (listener: (event: S3Event) => void) => void listeners.push(listener),
    emit: (event: S3Event) => {
      for (const listener of listeners) listener(event);
    },
  };
}

test('finalizes an upload again if that fails, and stops the stack only after it', async () => {
  const bucket = localBucket();
  const seen: string[] = [];
  const local = finalizeOnUpload(bucket, async () => async (event) => {
    seen.push(...event.Records.map(({ s3 }) => s3.object.key));
    if (seen.length < 3) throw new Error('The store is down.');
  });
  bucket.emit(eventOf(upload));
  await local.stop();

  expect(seen).toEqual([stagingKey(upload), stagingKey(upload), stagingKey(upload)]);
});

test('publishes a version with build metadata, by the event that the embedded S3 sends', async () => {
  const bucket = await startS3(0, folder, bucketName());
  process.env.AWS_ENDPOINT_URL_S3 = bucket.url;
  const keys: string[] = [];
  bucket.onObjectCreated(({ Records }) => keys.push(...Records.map(({ s3 }) => s3.object.key)));
  const local = finalizeOnUpload(bucket, async () => handler);
  await seed();
  const withMetadata = await publish('built', '1.0.0+cu118');
  await put(withMetadata, zip([{ name: 'node.py', data: 'print("hello")\n' }]));
  await local.stop();

  expect(keys).toContain(stagingKey(withMetadata).replace('+', '%2B'));
  expect(await storedVersion('built', '1.0.0+cu118')).toMatchObject({ status: 'NodeVersionStatusActive' });
});
