import { join } from 'node:path';
import { localAddress, localOutputs, localStores, portOffset as offset } from '../admin/local-stack.ts';

export { localAddress };

/** The ports of the local stack's parts. */
export const ports = {
  api: 3000 + offset,
  issuer: 3001 + offset,
  providers: 3003 + offset,
  pages: 3004 + offset,
  /** The registry's pages, on an origin without tokens. */
  site: 3006 + offset,
  /** The page for accounts, on an origin without anything that a publisher wrote. */
  account: 3007 + offset,
  s3: localStores.s3Port,
  sqs: 9324 + offset,
  dynamodb: localStores.dynamodbPort,
} as const;

/** The ports that must be free. A DynamoDB that already runs may use its own. */
export function neededPorts(isDynamodbGiven: boolean): [part: string, port: number][] {
  return Object.entries(ports).filter(([part]) => part !== 'dynamodb' || !isDynamodbGiven);
}

/** The local stack's data between starts: a folder of its own, which a fresh start deletes. */
export const localDirectory = join(process.env.LOCAL_DIRECTORY ?? '.local', 'node-registry-stack');

export const { tableName, bucketName } = localStores;
export const audience = 'node-registry';
/** The sample events' tokens contain this name for a hundred years, so it doesn't move with the port. */
export const issuerName = 'http://localhost:3001';

/** The same issuer and key, for the CI whose jobs `npm run token -- --ci` imitates. */
export const ciIssuerName = `${issuerName}/ci`;

const keySetUrl = `${localAddress(ports.issuer)}/.well-known/jwks.json`;

/** The variables that point functions to the parts of the local stack; serverless.yml reads them here. */
export const localEnvironment = {
  AWS_ENDPOINT_URL_DYNAMODB: localAddress(ports.dynamodb),
  AWS_ENDPOINT_URL_S3: localAddress(ports.s3),
  LOG_BUCKET_NAME: `${bucketName}-logs`,
  TOKEN_KEY_SET_URL: keySetUrl,
  LOGIN_ISSUER: localAddress(ports.issuer),
  CI_AUDIENCE: localAddress(ports.api),
  INDEX_QUEUE_URL: `${localAddress(ports.sqs)}/000000000000/indexChanges`,
  WORK_QUEUES: `${localAddress(ports.sqs)}/000000000000/`,
  NOTIFICATION_URL: `${localAddress(ports.api)}/notifications`,
  // Anyone can sign with this key, as its text says.
  NOTIFICATION_SIGNING_KEY: 'localDevelopmentIsNotASecret'.padEnd(64, '0'),
  NOTIFY_LOCALHOST: 'accepted',
  CI_ISSUERS: `github ${ciIssuerName} ${keySetUrl}`,
  IMAGE_PROVIDER_URL: `${localAddress(ports.providers)}/image`,
  VIDEO_PROVIDER_URL: `${localAddress(ports.providers)}/video`,
  ACCOUNT_URL: `${localAddress(ports.account)}/account/`,
  ...localOutputs,
};

/** The public half of NOTIFICATION_SIGNING_KEY, for receivers. */
export const notificationPublicKey = 'whpk_gXY/dZA1TTQ1XcH+B5ne5X68tTzKmNPIrMDBt3UWc2k=';
