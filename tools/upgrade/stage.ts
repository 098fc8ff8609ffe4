import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { verifyNotification } from '../../packages/registry-client/notification.ts';
import { createTable } from '../local/dynamodb.ts';
import { startStrictDynamoDb } from '../local/dynamodb-conflicts.ts';
import { createSigningKey, type SigningKey, startIssuer } from '../local/issuer.ts';
import { ciIssuerName } from '../local/addresses.ts';
import { queues } from '../local/queues.ts';
import { startS3 } from '../local/s3.ts';
import { startSqs } from '../local/sqs.ts';
import { type Serve, startHttpServer } from '../processes/http-server.ts';
import { type Simulators, startSimulators } from '../simulators/start-simulators.ts';
import { Events } from './events.ts';

/** What several releases serve together: the stores, the issuer, the providers and a receiver of notifications. */
export interface Stage {
  environment: Record<string, string>;
  key: SigningKey;
  /** What its table, bucket and queues tell functions. */
  events: Events;
  simulators: Simulators;
  /** The notifications that its receiver accepted. It refuses the first attempt of each. */
  notified: { path: string; id: string; body: string }[];
  receiverUrl: string;
  s3Directory: string;
  stop: () => Promise<void>;
}

const providerKeys = { image: 'image-key', video: 'video-key' };
const signingKey = `whsk_${Buffer.alloc(32, 'a key').toString('base64')}`;
const publicKeys = readSigningKeys(signingKey).map(({ publicKey }) => publicKey);
const names = { TABLE_NAME: 'node-registry-prod', BUCKET_NAME: 'archives-of-the-tests' };

/** The clock of the server is today's, and that of a recorded table isn't. */
async function keepExpired(endpoint: string): Promise<void> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  const TimeToLiveSpecification = { AttributeName: 'ttl', Enabled: false };
  await client.send(new UpdateTimeToLiveCommand({ TableName: names.TABLE_NAME, TimeToLiveSpecification }));
  client.destroy();
}

export async function startStage(key: SigningKey = createSigningKey()): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'node-registry-upgrade-'));
  const s3Directory = join(directory, 's3');
  const notified: Stage['notified'] = [];
  const refused = new Set<string>();
  const receive: Serve = async (request, response) => {
    const body = await text(request);
    const { id } = await verifyNotification(request.headers, body, publicKeys).catch(() => ({ id: '' }));
    const isAccepted = refused.has(id);
    if (isAccepted) notified.push({ path: String(request.url), id, body });
    else if (id !== '') refused.add(id);
    response.writeHead(isAccepted ? 204 : 503).end();
  };
  const sqs = await startSqs(0, queues);
  const events = new Events(sqs);
  const [dynamodb, s3, simulators, issuer, receiver] = await Promise.all([
    startStrictDynamoDb({ onWrite: (attributes) => events.wrote(attributes) }),
    startS3(0, s3Directory, names.BUCKET_NAME),
    startSimulators({ keys: providerKeys, tickMs: 3_600_000 }),
    startIssuer(0, key),
    startHttpServer(receive),
  ]);
  s3.onObjectCreated((event) => events.stored(event));
  await createTable(dynamodb.url, names.TABLE_NAME);
  await keepExpired(dynamodb.url);
  const keySet = `${issuer.url}/.well-known/jwks.json`;
  const environment = {
    ...names,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY',
    AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    AWS_ENDPOINT_URL_S3: s3.url,
    DOWNLOAD_BASE_URL: `${s3.url}/${names.BUCKET_NAME}`,
    TOKEN_ISSUER: 'http://localhost:3001',
    TOKEN_AUDIENCE: 'node-registry',
    TOKEN_JWKS_URL: keySet,
    CI_AUDIENCE: 'http://localhost:3000',
    CI_ISSUERS: `github ${ciIssuerName} ${keySet}`,
    IMAGE_PROVIDER_URL: `${simulators.url}/image`,
    IMAGE_PROVIDER_KEY: providerKeys.image,
    VIDEO_PROVIDER_URL: `${simulators.url}/video`,
    VIDEO_PROVIDER_KEY: providerKeys.video,
    NOTIFICATIONS: 'relay',
    NOTIFICATION_URL: 'https://api.example.com/notifications',
    EXTRACTION_QUEUE_URL: sqs.queueUrl('extractions'),
    NOTIFICATION_QUEUE_URL: sqs.queueUrl('notifications'),
    NOTIFICATION_SIGNING_KEY: signingKey,
    NOTIFY_LOCALHOST: 'accepted',
    CREDIT_CEILINGS: 'relightImage=1,textToVideo=74,extendVideo=28,multiframeVideo=20',
    ADMIN_ACTOR: `operator-${randomUUID().slice(0, 8)}`,
  };
  const stop = async () => {
    await Promise.all([dynamodb, s3, sqs, simulators, issuer, receiver].map((part) => part.stop()));
    await rm(directory, { recursive: true, force: true });
  };
  return {
    environment,
    key,
    events,
    simulators,
    notified,
    receiverUrl: receiver.url,
    s3Directory,
    stop,
  };
}
