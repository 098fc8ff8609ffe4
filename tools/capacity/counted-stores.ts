import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createTable } from '../local/dynamodb.ts';
import { startStrictDynamoDb } from '../local/dynamodb-conflicts.ts';
import { type MeteredCall, startMeter } from '../local/dynamodb-meter.ts';
import { createSigningKey, issueToken, publicKeyOf } from '../local/issuer.ts';
import { readAll, relay, startReverseProxy } from '../local/reverse-proxy.ts';
import { startS3 } from '../local/s3.ts';
import { startSqs } from '../local/sqs.ts';
import type { Queue } from '../local/sqs-queue.ts';
import { startHttpServer } from '../processes/http-server.ts';
import type { Simulation } from '../simulators/simulation.ts';
import { startSimulators } from '../simulators/start-simulators.ts';
import { Journal } from './journal.ts';

export interface CountedStores {
  journal: Journal;
  simulation: Simulation;
  queue: Queue;
  bearer: (user: string) => string;
  /** A receiver of notifications that accepts all. */
  receiverUrl: string;
  /** Does uncounted work at full speed. */
  prepare: <Result>(work: () => Promise<Result>) => Promise<Result>;
  stop: () => Promise<void>;
}

/** Replies are held back, long enough for calls that leave together to arrive before one of them is answered. */
const replyMs = 20;
/** No simulated task moves on by itself. */
const tickMs = 3_600_000;
const tableName = 'node-registry-capacity';
const bucketName = 'capacity';

/**
 * The embedded servers with a front each that writes down every call, and the environment by which this process's
 * functions find them. To be called before any function is loaded.
 */
export async function startCountedStores(): Promise<CountedStores> {
  const journal = new Journal();
  const hold = { ms: 0 };
  const directory = await mkdtemp(join(tmpdir(), 'node-registry-capacity-'));
  const [dynamodb, s3, sqs, simulators, receiver] = await Promise.all([
    startStrictDynamoDb(),
    startS3(0, directory, bucketName),
    startSqs(0, { extractions: { visibilitySeconds: 720 }, notifications: { visibilitySeconds: 180 } }),
    startSimulators({ tickMs }),
    startHttpServer(async (request, response) => {
      await text(request);
      response.writeHead(204).end();
    }),
  ]);
  const onCall = () => {
    const end = journal.begin('table');
    return ({ operation, bytes, ...units }: MeteredCall) => end({ operation, bytes, units });
  };
  const key = createSigningKey();
  const [table, bucket, queue, providers] = await Promise.all([
    startMeter(dynamodb.url, { hold, onCall }),
    startFront(s3.url, { journal, hold }, 'bucket'),
    startFront(sqs.url, { journal, hold }, 'queue'),
    startFront(simulators.url, { journal, hold }, 'provider'),
  ]);
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY',
    AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    AWS_ENDPOINT_URL_S3: bucket.url,
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
    TOKEN_ISSUER: 'http://localhost:3001',
    TOKEN_AUDIENCE: 'node-registry',
    TOKEN_JWKS_URL: 'http://localhost:3001/.well-known/jwks.json',
    TOKEN_JWKS: JSON.stringify({ keys: [publicKeyOf(key)] }),
    IMAGE_PROVIDER_URL: `${providers.url}/image`,
    IMAGE_PROVIDER_KEY: 'local-image-key',
    VIDEO_PROVIDER_URL: `${providers.url}/video`,
    VIDEO_PROVIDER_KEY: 'local-video-key',
    NOTIFICATIONS: 'relay',
    NOTIFICATION_URL: `${receiver.url}/notifications`,
    EXTRACTION_QUEUE_URL: `${queue.url}/000000000000/extractions`,
    NOTIFICATION_QUEUE_URL: `${queue.url}/000000000000/notifications`,
    NOTIFICATION_SIGNING_KEY: `whsk_${Buffer.alloc(32, 'capacity').toString('base64')}`,
    NOTIFY_LOCALHOST: 'accepted',
    // The defaults of a stage have no limits for a caller; one writes no more.
    CREDIT_CEILINGS: 'relightImage=1,textToVideo=74,extendVideo=28,multiframeVideo=20',
  });
  await createTable(dynamodb.url, tableName);
  const { seed } = await import('../local/seed.ts');
  await seed();
  const prepare: CountedStores['prepare'] = async (work) => {
    hold.ms = 0;
    try {
      return await work();
    } finally {
      hold.ms = replyMs;
      journal.take();
    }
  };
  await prepare(async () => {});
  const stop = async () => {
    await Promise.all([table, bucket, queue, providers].map((front) => front.stop()));
    await Promise.all([dynamodb, s3, sqs, simulators, receiver].map((server) => server.stop()));
    await rm(directory, { recursive: true, force: true });
  };
  return {
    journal,
    simulation: simulators.simulation,
    queue: sqs.queue('notifications'),
    bearer: (user) => `Bearer ${issueToken(key, { user })}`,
    receiverUrl: receiver.url,
    prepare,
    stop,
  };
}

function startFront(
  url: string,
  { journal, hold }: { journal: Journal; hold: { ms: number } },
  service: 'bucket' | 'queue' | 'provider',
) {
  return startReverseProxy(url, async (request, response, origin) => {
    const end = journal.begin(service);
    const body = await readAll(request);
    const reply = await origin.send(request, { body });
    if (hold.ms > 0) await pause(hold.ms);
    const { pathname } = new URL(request.url ?? '/', url);
    const bytes = body.length + Number(reply.headers['content-length'] ?? 0);
    end({ operation: String(request.method), path: decodeURIComponent(pathname), bytes });
    relay(reply, response);
  });
}
