import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import developmentKey from '../local/development-key.json' with { type: 'json' };
import { createTable, startDynamoDb } from '../local/dynamodb.ts';
import { startS3 } from '../local/s3.ts';
import { startSimulators } from '../simulators/start-simulators.ts';

export interface Servers {
  environment: Record<string, string>;
  stop: () => Promise<void>;
}

const tableName = 'node-registry-bench';
const bucketName = 'archives';

/** The embedded servers with the demo publisher, and the environment by which a function finds them. */
export async function startServers(): Promise<Servers> {
  const directory = await mkdtemp(join(tmpdir(), 'node-registry-bench-'));
  const [dynamodb, s3, simulators] = await Promise.all([
    startDynamoDb(),
    startS3(0, directory, bucketName),
    startSimulators(),
  ]);
  // By its number, like the embedded servers: a look-up of `localhost` and a first try by IPv6 belong to this machine.
  const providers = simulators.url.replace('localhost', '127.0.0.1');
  const environment = {
    PATH: String(process.env.PATH),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY',
    AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    AWS_ENDPOINT_URL_S3: s3.url,
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
    // As earlier figures were measured; a relayed call writes one record more.
    NOTIFICATIONS: 'direct',
    TOKEN_ISSUER: 'http://localhost:3001',
    TOKEN_AUDIENCE: 'node-registry',
    TOKEN_JWKS_URL: 'http://localhost:3001/.well-known/jwks.json',
    TOKEN_JWKS: JSON.stringify({ keys: [developmentKey] }),
    IMAGE_PROVIDER_URL: `${providers}/image`,
    IMAGE_PROVIDER_KEY: 'local-image-key',
    VIDEO_PROVIDER_URL: `${providers}/video`,
    VIDEO_PROVIDER_KEY: 'local-video-key',
  };
  Object.assign(process.env, environment);
  await createTable(dynamodb.url, tableName);
  const { seed } = await import('../local/seed.ts');
  await seed();
  const stop = async () => {
    await Promise.all([dynamodb.stop(), s3.stop(), simulators.stop()]);
    await rm(directory, { recursive: true, force: true });
  };
  return { environment, stop };
}

export async function readEvent(name: string): Promise<{ body: string; [field: string]: unknown }> {
  return JSON.parse(await readFile(`events/${name}.json`, 'utf8'));
}
