import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll } from '@jest/globals';
import { createTable } from '../../tools/local/dynamodb.ts';

/** As they are before a test file looks elsewhere. */
const { AWS_ENDPOINT_URL_DYNAMODB, TABLE_NAME, BUCKET_NAME, TEST_DIRECTORY } = process.env;

beforeAll(async () => {
  await Promise.all([
    createTable(String(AWS_ENDPOINT_URL_DYNAMODB), String(TABLE_NAME)),
    createBucket(String(BUCKET_NAME)),
  ]);
});

/** To the embedded S3 a bucket is a folder. Over the wire it would take a signed request, and an SDK to sign it. */
async function createBucket(name: string): Promise<void> {
  await mkdir(join(String(TEST_DIRECTORY), 's3', name), { recursive: true });
}
