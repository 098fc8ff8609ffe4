import {
  BucketAlreadyExists,
  BucketAlreadyOwnedByYou,
  CreateBucketCommand,
  S3Client,
} from '@aws-sdk/client-s3';

/** Creates the bucket in an S3 that we did not start, unless it exists. */
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
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!(error instanceof BucketAlreadyExists) && !(error instanceof BucketAlreadyOwnedByYou)) throw error;
  } finally {
    client.destroy();
  }
}
