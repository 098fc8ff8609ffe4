import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audience, issuerName } from '../local/addresses.ts';
import developmentKey from '../local/development-key.json' with { type: 'json' };
import { startDynamoDb } from '../local/dynamodb.ts';
import { queues } from '../local/queues.ts';
import { startS3 } from '../local/s3.ts';
import { startSqs } from '../local/sqs.ts';
import { createTable } from '../local/table.ts';
import { localKeys, startSimulators } from '../simulators/start-simulators.ts';

interface Servers {
  environment: Record<string, string>;
  stop: () => Promise<void>;
}

/** The embedded servers with the demo publisher, and the environment that points functions to them. */
export async function startServers(): Promise<Servers> {
  const [tableName, bucketName] = ['node-registry-bench', 'archives'];
  const s3Directory = await mkdtemp(join(tmpdir(), 'node-registry-bench-'));
  const [table, s3, sqs, simulators] = await Promise.all([
    startDynamoDb(),
    startS3(0, s3Directory, bucketName),
    startSqs(0, queues),
    startSimulators({ tickMs: 2000 }),
  ]);
  await createTable(table.url, tableName);
  // By its number, like the embedded servers: looking up `localhost` and trying IPv6 first costs time.
  const providers = simulators.url.replace('localhost', '127.0.0.1');
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY',
    AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    AWS_ENDPOINT_URL_S3: s3.url,
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
    TOKEN_ISSUER: issuerName,
    TOKEN_AUDIENCE: audience,
    TOKEN_KEY_SET_URL: `${issuerName}/.well-known/jwks.json`,
    TOKEN_KEY_SET: JSON.stringify({ keys: [developmentKey] }),
    IMAGE_PROVIDER_URL: `${providers}/image`,
    IMAGE_PROVIDER_KEY: localKeys.image,
    VIDEO_PROVIDER_URL: `${providers}/video`,
    VIDEO_PROVIDER_KEY: localKeys.video,
    // As for earlier figures; a relayed call writes one record more.
    NOTIFICATIONS: 'direct',
    INDEX_QUEUE_URL: sqs.queueUrl('indexChanges'),
    WORK_QUEUES: sqs.queueUrl(''),
    PATH: String(process.env.PATH),
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  };
  Object.assign(process.env, environment);
  const { seed } = await import('../local/seed.ts');
  await seed();
  const stop = async () => {
    await Promise.all([table, s3, sqs, simulators].map((part) => part.stop()));
    await rm(s3Directory, { recursive: true, force: true });
  };
  return { environment, stop };
}

export async function readEvent(name: string): Promise<{ body: string; [field: string]: unknown }> {
  return JSON.parse(await readFile(`events/${name}.json`, 'utf8'));
}
