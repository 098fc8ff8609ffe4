import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { loadOperations } from '../../infra/operations.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { variablesOf } from '../../infra/template/environment.ts';
import { statementsOfAll } from '../../infra/template/roles.ts';
import { tableDefinition } from '../../tools/local/table.ts';
import { startStrictDynamoDb } from '../../tools/local/dynamodb-conflicts.ts';
import { createSigningKey, startIssuer } from '../../tools/local/issuer.ts';
import { startS3 } from '../../tools/local/s3.ts';
import { bucketDenial, ownText, tableDenial } from './rights.ts';

/** What the global setup starts and the global teardown stops, both in Jest's own process. */
export const servers = { directory: '', running: [] as { stop: () => Promise<void> }[] };

/** Starts the embedded servers once for each run of Jest, also of many in one process; tests find them in the environment. */
export default async function startServers(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'node-registry-tests-'));
  const key = createSigningKey();
  const [dynamodb, s3, issuer] = await Promise.all([
    startStrictDynamoDb({ denialOf: tableDenial }),
    startS3(0, join(directory, 's3'), '', { denialOf: bucketDenial }),
    startIssuer(0, key),
    bundleWorker(directory),
  ]);
  Object.assign(servers, { directory, running: [dynamodb, s3, issuer] });
  process.env.TEST_DIRECTORY = directory;
  process.env.TEST_STATEMENTS = await readStatements();
  // As in dist, where the module that starts the threads is a bundle next to theirs; transform.js puts it there.
  process.env.EXTRACTION_BUNDLE = String(pathToFileURL(join(directory, 'bundle.js')));
  // Tests start hundreds of processes, and each would compile the same modules again.
  process.env.NODE_COMPILE_CACHE = join(directory, 'compiled');
  process.env.AWS_ENDPOINT_URL_DYNAMODB = dynamodb.url;
  process.env.AWS_ENDPOINT_URL_S3 = s3.url;
  process.env.TOKEN_KEY_SET_URL = `${issuer.url}/.well-known/jwks.json`;
  process.env.TEST_TABLE = JSON.stringify(await tableDefinition());
  process.env.TEST_SIGNING_KEY = JSON.stringify(key);
}

/** The rights of each function's role. */
export async function readStatements(): Promise<string> {
  const operations = await loadOperations();
  const place = { tableName: 'node-registry-prod', values: parameterSets.full };
  return ownText(statementsOfAll(operations, variablesOf(operations), place));
}

/** Threads of the tests start from it, in a fifth of the time that the sources take. */
async function bundleWorker(outdir: string): Promise<void> {
  const entryPoints = { 'extraction-worker': '@node-registry/host-nodes/worker' };
  const conditions = ['in-tree'];
  await build({
    entryPoints,
    outdir,
    bundle: true,
    conditions,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
  });
}
