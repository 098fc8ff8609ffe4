import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createTable } from '../../tools/local/dynamodb.ts';

/** Creates the table and the bucket that the environment names, in the servers of the run. */
export async function createStores(environment: NodeJS.ProcessEnv): Promise<void> {
  const { AWS_ENDPOINT_URL_DYNAMODB, TABLE_NAME, BUCKET_NAME, TEST_DIRECTORY } = environment;
  await Promise.all([
    createTable(String(AWS_ENDPOINT_URL_DYNAMODB), String(TABLE_NAME)),
    // To the embedded S3 a bucket is a folder. Over the wire it would take a signed request, and an SDK to sign it.
    mkdir(join(String(TEST_DIRECTORY), 's3', String(BUCKET_NAME)), { recursive: true }),
  ]);
}
