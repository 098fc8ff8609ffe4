import { text } from 'node:stream/consumers';
import { startStrictDynamoDb } from '../local/dynamodb-conflicts.ts';
import { type MeteredCall, startMeter } from '../local/dynamodb-meter.ts';
import { createSigningKey, issueToken, publicKeyOf } from '../local/issuer.ts';
import { startParts } from '../local/parts.ts';
import { holdBack, readAll, relay, startReverseProxy } from '../local/reverse-proxy.ts';
import type { Queue } from '../local/sqs-queue.ts';
import { startHttpServer } from '../processes/http-server.ts';
import type { Simulation } from '../simulators/simulation.ts';
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

/**
 * The embedded servers with a front each that writes down every call, and the environment by which this process's
 * functions find them. To be called before any function is loaded.
 */
export async function startCountedStores(): Promise<CountedStores> {
  const journal = new Journal();
  const hold = { ms: 0 };
  const parts = await startParts({
    dynamodb: startStrictDynamoDb(),
    ...{ tableName: 'node-registry-capacity', bucketName: 'capacity', tickMs },
  });
  const { environment, sqs, simulators } = parts;
  const receiver = await startHttpServer(async (request, response) => {
    await text(request);
    response.writeHead(204).end();
  });
  const onCall = () => {
    const end = journal.begin('table');
    return ({ operation, ...units }: MeteredCall) => end({ operation, units });
  };
  const key = createSigningKey();
  const [table, bucket, queue, providers] = await Promise.all([
    startMeter(String(environment.AWS_ENDPOINT_URL_DYNAMODB), { hold, onCall }),
    startFront(parts.s3.url, { journal, hold }, 'bucket'),
    startFront(sqs.url, { journal, hold }, 'queue'),
    startFront(simulators.url, { journal, hold }, 'provider'),
  ]);
  Object.assign(process.env, environment, {
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    AWS_ENDPOINT_URL_S3: bucket.url,
    TOKEN_JWKS: JSON.stringify({ keys: [publicKeyOf(key)] }),
    IMAGE_PROVIDER_URL: `${providers.url}/image`,
    VIDEO_PROVIDER_URL: `${providers.url}/video`,
    NOTIFICATIONS: 'relay',
    NOTIFICATION_URL: `${receiver.url}/notifications`,
    EXTRACTION_QUEUE_URL: `${queue.url}/000000000000/extractions`,
    NOTIFICATION_QUEUE_URL: `${queue.url}/000000000000/notifications`,
    NOTIFICATION_SIGNING_KEY: `whsk_${Buffer.alloc(32, 'capacity').toString('base64')}`,
    NOTIFY_LOCALHOST: 'accepted',
    // The defaults of a stage have no limits for a caller; one writes no more.
    CREDIT_RATES: '[{"operation":"textToVideo","task":74},{"operation":"multiframeVideo","task":20}]',
  });
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
    await Promise.all([parts, receiver].map((part) => part.stop()));
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
    await holdBack(hold.ms);
    const { pathname } = new URL(request.url ?? '/', url);
    end({ operation: String(request.method), path: decodeURIComponent(pathname) });
    relay(reply, response);
  });
}
