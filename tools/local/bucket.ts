import {
  BucketAlreadyExists,
  BucketAlreadyOwnedByYou,
  CreateBucketCommand,
  PutBucketCorsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { localCorsRules } from './cors-rules.ts';

/** Creates the bucket in an S3 that we did not start, unless it exists, and lets the same pages in as a stage does. */
export async function createBucket(url: string, name: string): Promise<void> {
  const client = new S3Client({ endpoint: url, region: 'us-east-1', forcePathStyle: true });
  // Some embedded servers compute the signature of a bucket's address without the last slash, which the SDK sends.
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { path: string };
      request.path = request.path.replace(/\/$/, '');
      return next(args);
    },
    { step: 'build' },
  );
  try {
    await client.send(new CreateBucketCommand({ Bucket: name })).catch(unlessItExists);
    const CORSConfiguration = { CORSRules: await localCorsRules() };
    await client.send(new PutBucketCorsCommand({ Bucket: name, CORSConfiguration }));
  } finally {
    client.destroy();
  }
}

function unlessItExists(error: unknown): void {
  if (!(error instanceof BucketAlreadyExists) && !(error instanceof BucketAlreadyOwnedByYou)) throw error;
}
