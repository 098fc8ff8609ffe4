import type { Actor } from './actor.ts';
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { verifyNotification } from 'registry-client';
import { startStrictDynamoDb } from '../../tools/local/dynamodb-conflicts.ts';
import { createSigningKey, type SigningKey, startIssuer } from '../../tools/local/issuer.ts';
import { ciIssuerName } from '../../tools/local/addresses.ts';
import { startParts } from '../../tools/local/parts.ts';
import { type Serve, startHttpServer } from '../../tools/processes/http-server.ts';
import type { Simulators } from '../../tools/simulators/start-simulators.ts';
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
  /** The newest release that serves it, if there are two. */
  newest?: Actor;
  stop: () => Promise<void>;
}

const signingKey = `whsk_${Buffer.alloc(32, 'a key').toString('base64')}`;
const publicKeys = readSigningKeys(signingKey).map(({ publicKey }) => publicKey);
const [tableName, bucketName] = ['node-registry-prod', 'archives-of-the-tests'];

export async function startStage(key: SigningKey = createSigningKey()): Promise<Stage> {
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
  const [parts, issuer, receiver] = await Promise.all([
    startParts({
      dynamodb: startStrictDynamoDb({ onWrite: (attributes) => events.wrote(attributes) }),
      // A recorded table is as old as its recording.
      ...{ tableName, bucketName, tickMs: 3_600_000, keepsExpired: true },
    }),
    startIssuer(0, key),
    startHttpServer(receive),
  ]);
  const { s3, s3Directory, simulators } = parts;
  const events = new Events(parts.sqs);
  s3.onObjectCreated((event) => events.stored(event));
  const keySet = `${issuer.url}/.well-known/jwks.json`;
  const environment: Record<string, string> = {
    ...parts.environment,
    DOWNLOAD_BASE_URL: `${s3.url}/${bucketName}`,
    TOKEN_JWKS_URL: keySet,
    CI_AUDIENCE: 'http://localhost:3000',
    CI_ISSUERS: `github ${ciIssuerName} ${keySet}`,
    NOTIFICATIONS: 'relay',
    NOTIFICATION_URL: 'https://api.example.com/notifications',
    NOTIFICATION_SIGNING_KEY: signingKey,
    NOTIFY_LOCALHOST: 'accepted',
    CREDIT_CEILINGS: 'relightImage=1,textToVideo=74,multiframeVideo=20',
    CREDIT_RATES: '[{"operation":"textToVideo","task":74},{"operation":"multiframeVideo","task":20}]',
    ADMIN_ACTOR: `operator-${randomUUID().slice(0, 8)}`,
  };
  const stop = async () => {
    await Promise.all([parts, issuer, receiver].map((part) => part.stop()));
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
