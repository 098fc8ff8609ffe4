import type { S3Event } from 'aws-lambda';

interface Bucket {
  onObjectCreated: (listener: (event: S3Event) => void) => void;
}

/** Sends S3's message for each object put under `staging/`, as the deployed bucket does. */
export function queueOnUpload(bucket: Bucket, queue: { send: (body: string) => void }): void {
  bucket.onObjectCreated((event) => {
    if (event.Records.every(({ s3 }) => s3.object.key.startsWith('staging/')))
      queue.send(JSON.stringify(event));
  });
}
