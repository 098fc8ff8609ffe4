import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { deniedFile, nameFunctions } from './roles.ts';

/** Read before a test file points the environment at another server. */
const { AWS_ENDPOINT_URL_DYNAMODB, TABLE_NAME, BUCKET_NAME, TEST_DIRECTORY } = process.env;
const { TimeToLiveSpecification, ...definition } = JSON.parse(String(process.env.TEST_TABLE));

/** The table and the bucket of this test file, in the servers of the run. */
beforeAll(async () => {
  await Promise.all([
    createTable().then(() => send('UpdateTimeToLive', { TimeToLiveSpecification })),
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

export function createTable(name = TABLE_NAME): Promise<void> {
  return send('CreateTable', { ...definition, TableName: name });
}

/** The embedded DynamoDB wants a signature but verifies none, and many test files would load the SDK for nothing else. */
async function send(operation: string, input: object): Promise<void> {
  const answer = await fetch(String(AWS_ENDPOINT_URL_DYNAMODB), {
    method: 'POST',
    headers: {
      authorization: 'AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=none',
      'x-amz-date': 'any',
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body: JSON.stringify({ TableName: TABLE_NAME, ...input }),
  });
  if (!answer.ok) throw new Error(`${operation}: ${await answer.text()}`);
}
