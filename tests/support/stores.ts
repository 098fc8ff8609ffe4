import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { createTable as createTableAt } from '../../tools/local/table.ts';
import { deniedFile, nameFunctions } from './roles.ts';

/** Read before a test file points the environment at another server. */
const { AWS_ENDPOINT_URL_DYNAMODB, TABLE_NAME, BUCKET_NAME, TEST_DIRECTORY, TEST_TABLE } = process.env;

/** The table and the bucket of this test file, in the servers of the run. */
beforeAll(async () => {
  await Promise.all([
    createTable(),
    // To the embedded S3 a bucket is a folder. Over the wire it would take a signed request, and an SDK to sign it.
    mkdir(join(String(TEST_DIRECTORY), 's3', String(BUCKET_NAME)), { recursive: true }),
  ]);
});

const stopNaming = nameFunctions();
afterAll(stopNaming);

const denied = deniedFile(String(TABLE_NAME));

/** A function's role lacks a right, whatever the function has made of it. */
afterEach(() => {
  if (!existsSync(denied)) return;
  const calls = new Set(readFileSync(denied, 'utf8').split('\n'));
  rmSync(denied);
  throw new Error([...calls].slice(0, 10).join('\n'));
});

export function createTable(name = String(TABLE_NAME)): Promise<void> {
  return createTableAt(String(AWS_ENDPOINT_URL_DYNAMODB), name, JSON.parse(String(TEST_TABLE)));
}
