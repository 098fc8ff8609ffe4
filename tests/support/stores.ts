import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll } from '@jest/globals';
import { createTable } from '../../tools/local/dynamodb.ts';

/** Read before a test file points the environment at another server. */
const { AWS_ENDPOINT_URL_DYNAMODB, TABLE_NAME, BUCKET_NAME, TEST_DIRECTORY } = process.env;

/** The table and the bucket of this test file, in the servers of the run. */
beforeAll(async () => {
  await Promise.all([
    createTable(String(AWS_ENDPOINT_URL_DYNAMODB), String(TABLE_NAME)),
    // To the embedded S3 a bucket is a folder. Over the wire it would take a signed request, and an SDK to sign it.
    mkdir(join(String(TEST_DIRECTORY), 's3', String(BUCKET_NAME)), { recursive: true }),
  ]);
});
