import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localKeys, startSimulators } from '../simulators/start-simulators.ts';
import { audience, issuerName } from './addresses.ts';
import { createTable } from './table.ts';
import { queues } from './queues.ts';
import type { Server } from './reverse-proxy.ts';
import { startS3 } from './s3.ts';
import { startSqs } from './sqs.ts';

interface Settings {
  dynamodb: Promise<Server>;
  tableName: string;
  bucketName: string;
  /** How long a simulated task stays in each of its states. */
  tickMs: number;
}

/** The stores and providers for a tool's functions. Stopping them removes all their data. */
export async function startParts(settings: Settings) {
  const { dynamodb, tableName, bucketName, tickMs } = settings;
  const s3Directory = await mkdtemp(join(tmpdir(), 'node-registry-parts-'));
  const [table, s3, sqs, simulators] = await Promise.all([
    dynamodb,
    startS3(0, s3Directory, bucketName),
    startSqs(0, queues),
    startSimulators({ tickMs }),
  ]);
  await createTable(table.url, tableName);
  /** Points functions to the parts. The tool decides whose tokens they accept. */
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
    IMAGE_PROVIDER_URL: `${simulators.url}/image`,
    IMAGE_PROVIDER_KEY: localKeys.image,
    VIDEO_PROVIDER_URL: `${simulators.url}/video`,
    VIDEO_PROVIDER_KEY: localKeys.video,
    INDEX_QUEUE_URL: sqs.queueUrl('indexChanges'),
    WORK_QUEUES: sqs.queueUrl(''),
  };
  const stop = async () => {
    await Promise.all([table, s3, sqs, simulators].map((part) => part.stop()));
    await rm(s3Directory, { recursive: true, force: true });
  };
  return { environment, s3, s3Directory, sqs, simulators, stop };
}
