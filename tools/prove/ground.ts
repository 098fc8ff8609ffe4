import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audience, issuerName } from '../local/addresses.ts';
import { createTable, startDynamoDb } from '../local/dynamodb.ts';
import { createSigningKey, startIssuer } from '../local/issuer.ts';
import { startS3 } from '../local/s3.ts';
import { type Arena, openArena } from './arena.ts';

interface Ground {
  arena: Arena;
  close: () => Promise<void>;
}

const tableName = 'prove';
const bucketName = 'prove';

/** Starts stores and an issuer of the hunts' own, on any free ports, and opens the arena over them. */
export async function openGround(): Promise<Ground> {
  const directory = await mkdtemp(join(tmpdir(), 'node-registry-prove-'));
  const key = createSigningKey();
  const [dynamodb, s3, issuer] = await Promise.all([
    startDynamoDb(),
    startS3(0, join(directory, 's3'), bucketName),
    startIssuer(0, key),
  ]);
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    AWS_ENDPOINT_URL_S3: s3.url,
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
    TOKEN_ISSUER: issuerName,
    TOKEN_AUDIENCE: audience,
    TOKEN_JWKS_URL: `${issuer.url}/.well-known/jwks.json`,
    IMAGE_PROVIDER_KEY: 'image-key-of-the-hunts',
    VIDEO_PROVIDER_KEY: 'video-key-of-the-hunts',
  });
  await createTable(dynamodb.url, tableName);
  swallowLog();
  const arena = await openArena(key);
  const close = async () => {
    await arena.close();
    await Promise.all([dynamodb, s3, issuer].map((server) => server.stop()));
    await rm(directory, { recursive: true, force: true });
  };
  return { arena, close };
}

/** The functions' log goes to standard output, where thousands of lines would bury what was found. */
function swallowLog(): void {
  Object.defineProperty(process, 'stdout', { value: { write: () => true }, configurable: true });
}
