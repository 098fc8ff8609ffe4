import type { IncomingMessage } from 'node:http';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { text } from 'node:stream/consumers';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import { verifyNotification } from '@node-registry/registry-client';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { ciIssuerName } from '../../tools/local/addresses.ts';
import { localClient } from '../../tools/local/dynamodb.ts';
import { startStrictDynamoDb } from '../../tools/local/dynamodb-conflicts.ts';
import { createSigningKey, startIssuer } from '../../tools/local/issuer.ts';
import { startParts } from '../../tools/local/parts.ts';
import { startHttpServer } from '../../tools/processes/http-server.ts';
import { localKeys } from '../../tools/simulators/start-simulators.ts';
import { type FunctionProcess, startFunctions } from '../support/function-process.ts';
import { bucketDenial, queueDenial, secretDenial, type Statements, tableDenial } from '../support/rights.ts';
import { Events } from './events.ts';

/** What several releases serve together: the stores, the issuer, the providers and a receiver of notifications. */
export type Stage = Awaited<ReturnType<typeof startStage>>;

const signingKey = `whsk_${Buffer.alloc(32, 'a key').toString('base64')}`;
const [tableName, bucketName] = ['node-registry-prod', 'archives-of-the-tests'];

/** As the parameters of the packaged stage name them. */
const secrets: Record<string, string> = {
  'image-key': localKeys.image,
  '/node-registry/prod/video-provider-key': localKeys.video,
  '${NotificationSigningKey}': signingKey,
};

export async function startStage() {
  const key = createSigningKey();
  const sides = new Map<string, Running>();
  const enforce = (
    { headers }: IncomingMessage,
    denialOf: (statements: Statements) => string | undefined,
  ) => {
    const [, name = ''] = /Credential=\w+\.(\w+)\//.exec(String(headers.authorization)) ?? [];
    const side = sides.get(name);
    if (!side?.statements || headers['running-function'] === undefined) return undefined;
    const denial = denialOf(side.statements);
    // A role without ListBucket gets this instead of a 404, and the code takes it for one.
    if (denial !== undefined && !denial.includes('s3:ListBucket')) side.denied.push(denial);
    return denial;
  };
  const dynamodb = startStrictDynamoDb({
    onWrite: (attributes) => events.wrote(attributes),
    denialOf: (request, body) => enforce(request, (statements) => tableDenial(request, body, statements)),
  });
  const denials = {
    s3: (request: IncomingMessage, isListing?: boolean) =>
      enforce(request, (statements) => bucketDenial(request, isListing, statements)),
    sqs: (request: IncomingMessage, body: string) =>
      enforce(request, (statements) => queueDenial(request, body, statements)),
  };
  const [parts, issuer, store] = await Promise.all([
    startParts({ dynamodb, tableName, bucketName, denials, tickMs: 3_600_000 }),
    startIssuer(0, key),
    startHttpServer(async (request, response) => {
      const body = await text(request);
      const { Name, SecretId } = JSON.parse(body);
      const denial = enforce(request, (statements) => secretDenial(request, body, statements));
      const secret = secrets[Name ?? SecretId];
      const answer = { Parameter: { Value: secret }, SecretString: secret };
      response.writeHead(denial ? 400 : 200).end(JSON.stringify(denial ? { __type: denial } : answer));
    }),
  ]);
  /** The notifications that were accepted, by their receiver: the first attempt of each is refused. */
  const notified: { path: string; id: string; body: string }[] = [];
  const refused = new Set<string>();
  const keys = readSigningKeys(signingKey).map(({ publicKey }) => publicKey);
  const receiver = await startHttpServer(async (request, response) => {
    const body = await text(request);
    const { id } = await verifyNotification(request.headers, body, keys).catch(() => ({ id: '' }));
    const isAccepted = refused.has(id);
    if (isAccepted) notified.push({ path: String(request.url), id, body });
    else if (id !== '') refused.add(id);
    response.writeHead(isAccepted ? 204 : 503).end();
  });
  const events = new Events(parts.sqs);
  parts.s3.onObjectCreated((event) => events.stored(event));
  const keySet = `${issuer.url}/.well-known/jwks.json`;
  const environment: Record<string, string> = {
    ...parts.environment,
    DOWNLOAD_BASE_URL: `${parts.environment.AWS_ENDPOINT_URL_S3}/${bucketName}`,
    TOKEN_JWKS_URL: keySet,
    CI_AUDIENCE: 'http://localhost:3000',
    CI_ISSUERS: `github ${ciIssuerName} ${keySet}`,
    AWS_ENDPOINT_URL_SSM: store.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: store.url,
    IMAGE_PROVIDER_KEY: 'secretsmanager:image-key',
    VIDEO_PROVIDER_KEY: 'ssm:/node-registry/prod/video-provider-key',
    NOTIFICATIONS: 'relay',
    NOTIFICATION_URL: 'https://api.example.com/notifications',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the name of a secret that the stack makes
    NOTIFICATION_SIGNING_KEY: 'secretsmanager:${NotificationSigningKey}',
    NOTIFY_LOCALHOST: 'accepted',
    CREDIT_RATES: '[{"operation":"textToVideo","task":74},{"operation":"multiframeVideo","task":20}]',
    ADMIN_ACTOR: 'operator',
  };
  return {
    ...{ environment, key, sides, events, notified, receiverUrl: receiver.url },
    simulation: parts.simulators.simulation,
    /** What `strangeExpiries` has found. */
    strange: new Set<string>(),
    stop: async () => void (await Promise.all([parts, issuer, store, receiver].map((part) => part.stop()))),
  };
}

/** New items whose time of expiry is not one in seconds within two years. DynamoDB would keep them, or lose them. */
export async function strangeExpiries({ environment, strange }: Stage): Promise<string[]> {
  const client = localClient(String(environment.AWS_ENDPOINT_URL_DYNAMODB));
  const found: string[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: tableName }))
    for (const { pk, ttl } of Items) {
      const days = (Number(ttl?.N) - Date.now() / 1000) / 86_400;
      if (days < -1 || days > 731) found.push(`${pk?.S} ${ttl?.N}`);
    }
  client.destroy();
  return found.filter((each) => !strange.has(each) && strange.add(each));
}

/** One release on a stage. Its functions have the rights of `statements`, or all, and each denial is kept. */
export interface Running {
  statements: Statements | undefined;
  denied: string[];
  process: FunctionProcess;
}

/** The access key says which release has signed a request. */
export function startRelease(name: string, folder: string, stage: Stage, statements?: Statements): Running {
  const fileOf = (file: string) => join(folder, `${file}.js`);
  const environment = { ...stage.environment, AWS_ACCESS_KEY_ID: `LOCALACCESSKEY.${name}` };
  const process = startFunctions({ name, fileOf, environment });
  const running = { statements, denied: [], process };
  stage.sides.set(name, running);
  return running;
}

/** A file for each function. As in Lambda, none of them shares what its module remembers with another. */
export async function unpack(folder: string, files: Record<string, string>): Promise<string> {
  const names = ['admin', ...(await readdir('functions')).map((file) => parse(file).name)];
  const stub = (name: string) =>
    `const { modules } = await import('./release.js?${name}');
     export const { handler, runCommandLine } = await modules['${name}']();`;
  const stubs = Object.fromEntries(names.map((name) => [`${name}.js`, stub(name)]));
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries({ ...files, ...stubs, 'package.json': '{"type":"module"}' }))
    await writeFile(join(folder, name), text);
  return folder;
}
