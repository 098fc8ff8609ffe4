import { beforeAll } from '@jest/globals';
import { createTable } from '../../tools/local/dynamodb.ts';

/** As they are before a test file looks elsewhere. */
const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_S3, TABLE_NAME, BUCKET_NAME } = process.env;

beforeAll(async () => {
  await Promise.all([
    createTable(String(AWS_ENDPOINT_URL_DYNAMODB), String(TABLE_NAME)),
    createBucket(`${AWS_ENDPOINT_URL_S3}/${BUCKET_NAME}`),
  ]);
});

async function createBucket(url: string): Promise<void> {
  const { ok, status } = await fetch(url, { method: 'PUT' });
  if (!ok) throw new Error(`S3 answered ${status} for a bucket.`);
}
