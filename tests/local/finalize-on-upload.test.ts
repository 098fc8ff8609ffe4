import { expect, test } from '@jest/globals';
import type { S3Event } from 'aws-lambda';
import { stagingKey } from '../../lib/bucket/object-keys.ts';
import { finalizeOnUpload } from '../../tools/local/finalize-on-upload.ts';
import { eventOf } from '../support/uploads.ts';

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
