import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createCommand, runCommand } from '@node-registry/command-line/command';
import { stop as stopBundler } from 'esbuild';
import { isPortFree } from '../processes/ports.ts';
import { promptWordsHelp } from '../simulators/prompt-words.ts';
import { startSimulators } from '../simulators/start-simulators.ts';
import {
  bucketName,
  localAddress,
  localDirectory,
  localEnvironment,
  neededPorts,
  notificationPublicKey,
  ports,
  tableName,
} from './addresses.ts';
import { startAccount } from './account.ts';
import { banner } from './banner.ts';
import { consumeQueue, type QueueHandler } from './consume-queue.ts';
import { lockFolder, runningStack } from './data-folder.ts';
import { demo } from './demo.ts';
import { startStrictDynamoDb } from './dynamodb-conflicts.ts';
import { followTable } from './follow-table.ts';
import { routesOf, startGateway } from './gateway.ts';
import { invocationOf, loadFunction } from './invocation.ts';
import { issueToken, loadSigningKey, startIssuer } from './issuer.ts';
import {
  fileOf,
  type LocalStage,
  queueNameOf,
  readStage,
  runSchedules,
  setVariables,
  timeoutMsOf,
} from './local-stage.ts';
import { referencePath, startPages } from './pages.ts';
import { queues } from './queues.ts';
import { createRequestLog } from './request-log.ts';
import { startS3 } from './s3.ts';
import { startSite } from './site.ts';
import { type Sqs, startSqs } from './sqs.ts';

const notes = `Starts the whole service on ${localAddress(ports.api)}: the HTTP API, an embedded DynamoDB, an embedded S3 and a token issuer, with a demo publisher. Data is kept under .local/ between starts.`;

const environment = `
Environment:
  AWS_ENDPOINT_URL_DYNAMODB  a DynamoDB to use instead of the embedded one
  LOCAL_PORT_OFFSET          a number that is added to every port
  LOCAL_DIRECTORY            a folder for the data instead of .local

${promptWordsHelp}`;

interface Options {
  fresh?: boolean;
  empty?: boolean;
}

interface Part {
  stop: () => Promise<void>;
}

const givenDynamodb = process.env.AWS_ENDPOINT_URL_DYNAMODB;

const demoAdmin = 'demo-admin';

const parts: Promise<Part>[] = [];
const started = Promise.withResolvers<void>();
const requests = createRequestLog();

async function start({ fresh = false, empty = false }: Options): Promise<void> {
  const began = performance.now();
  await requireFreePorts();
  const lock = lockFolder(localDirectory, { fresh });
  await run(lock);
  if (!fresh && (await lock).isEmptied)
    say(`The data in ${localDirectory} was written by another release, so it begins again.`);
  say('Starting the HTTP API, the stores, the token issuer and the provider simulators.');
  const key = await loadSigningKey(localDirectory);
  const dynamodbUrl = givenDynamodb ?? localAddress(ports.dynamodb);
  const s3Url = localAddress(ports.s3);
  setEnvironment(dynamodbUrl, s3Url);
  const ownerToken = issueToken(key, { user: demo.owner });
  const memberToken = issueToken(key, { user: demo.member });
  const adminToken = issueToken(key, { user: demoAdmin, admin: true });
  const tokens = { [demo.owner]: ownerToken, [demo.member]: memberToken, [demoAdmin]: adminToken };
  const listening = {
    'HTTP API': localAddress(ports.api),
    DynamoDB: dynamodbUrl,
    S3: s3Url,
    'Token issuer': localAddress(ports.issuer),
    'Provider simulators': localAddress(ports.providers),
  };
  await Promise.all([
    run(startIssuer(ports.issuer, key)),
    run(startSimulators({ port: ports.providers })),
    run(startPages({ port: ports.pages, apiUrl: listening['HTTP API'], tokens, requests })),
    run(startSite(ports.site, s3Url)),
    run(startAccount(ports.account)),
    startService(),
  ]);
  const home = localAddress(ports.pages);
  const pages = {
    Studio: home,
    Registry: localAddress(ports.site),
    'Your account': localAddress(ports.account),
    'API reference': home + referencePath,
  };
  const shown = { ownerToken, adminToken, publicKey: notificationPublicKey };
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(banner({ seconds, listening: { ...listening, ...pages }, ...shown }));
  started.resolve();
  // The pages are built too.
  await stopBundler();
  if (!empty) await addExamples();
}

type Lister = (event: object, invocation: ReturnType<typeof invocationOf>) => Promise<void>;
const listMs = 60_000;

/** After the first answer: nobody waits for them. */
async function addExamples(): Promise<void> {
  await runApart('tools/local/examples.ts')
    // The lists of nodes are otherwise minutes late.
    .then(async () => (await loadStarted<Lister>('write-catalog'))({}, invocationOf(listMs)))
    .catch(
      (error: Error) =>
        stopping.signal.aborted || say(`The example nodes are not complete: ${error.message}`),
    );
}

/** For serverless.yml, which reads the URLs from here, and for the functions' own modules in the seed. */
function setEnvironment(dynamodbUrl: string, s3Url: string): void {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY',
    AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
    ...localEnvironment,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl,
    AWS_ENDPOINT_URL_S3: s3Url,
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
  });
}

async function startService(): Promise<void> {
  const build = runApart('infra/bundle/build.ts');
  const [stage, sqs] = await Promise.all([readStage(), startStores(), build]);
  say('The stores are up, and the functions are built.');
  process.stdout.write(await runApart('tools/local/fill-stores.ts'));
  await startApi(stage);
  await consumeQueues(stage, sqs);
}

/** Runs a program to its end. Its process takes along its memory: 650 MB for the build, 100 MB with the AWS SDK. */
async function runApart(program: string): Promise<string> {
  const args = [...process.execArgv, program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { signal: stopping.signal }).catch(
    ({ stderr, message }) => {
      throw new Error(stderr.trim() || message);
    },
  );
  return stdout;
}

/** The functions run in this process, the ones that no request calls too. */
async function startApi(stage: LocalStage): Promise<void> {
  setVariables(stage);
  const { cors } = stage.provider.httpApi;
  await run(startGateway({ port: ports.api, routes: routesOf(stage), cors, onAnswer: requests.add }));
  await run(runSchedules(stage));
}

async function startStores(): Promise<Sqs> {
  const { dynamodb, s3 } = ports;
  const [sqs] = await Promise.all([
    // In memory: the hand-over queues an earlier stack's work.
    run(startSqs(ports.sqs, queues)),
    givenDynamodb ??
      run(
        startStrictDynamoDb({
          port: dynamodb,
          file: `${localDirectory}/dynamodb.sqlite`,
          onEnd: stopWithout,
          onWrite: followTable(() => loadStarted('write-index')),
        }),
      ),
  ]);
  await run(startS3(s3, `${localDirectory}/s3`, bucketName, { uploads: sqs.queue('finalize') }));
  return sqs;
}

/** As the event sources of serverless.yml, but with fewer executions at once. */
async function consumeQueues(stage: LocalStage, sqs: Sqs): Promise<void> {
  for (const each of Object.values(stage.functions))
    for (const { sqs: source } of each.events) {
      if (source === undefined) continue;
      const consumer = consumeQueue({
        queue: sqs.queue(queueNameOf(source)),
        load: () => loadStarted<QueueHandler>(fileOf(each)),
        timeoutMs: timeoutMsOf(stage, each),
        batchSize: source.batchSize,
        maximumConcurrency: source.batchSize === 1 ? 2 : 10,
      });
      await run(consumer);
    }
}

/** The functions' log lines belong below the banner. */
async function loadStarted<Handler>(name: string): Promise<Handler> {
  await started.promise;
  return loadFunction(name);
}

/** Shows progress until everything is up. */
function say(sentence: string): void {
  process.stdout.write(`${sentence}\n`);
}

/** Remembers a part before it has started, so that it is stopped even if another part fails. */
async function run<Started extends Part>(part: Started | Promise<Started>): Promise<Started> {
  parts.push(Promise.resolve(part));
  return part;
}

async function requireFreePorts(): Promise<void> {
  if (!(ports.api > 0 && ports.sqs <= 65_535))
    throw new Error('LOCAL_PORT_OFFSET must be a number that leads to ports from 1 to 65535.');
  for (const [part, port] of neededPorts(givenDynamodb !== undefined)) {
    if (await isPortFree(port)) continue;
    const own = await runningStack(localDirectory);
    const holder = own === undefined ? 'the program that listens there' : `your local stack (process ${own})`;
    throw new Error(
      `Port ${port} (${part}) is taken. Stop ${holder}, or add a number to every port: LOCAL_PORT_OFFSET=100 npm start`,
    );
  }
}

const stopping = new AbortController();
const maxStopMs = 20_000;

async function stop(exitCode: number): Promise<void> {
  if (stopping.signal.aborted) return;
  stopping.abort();
  // Otherwise, stopping would wait for functions that wait for the banner.
  started.resolve();
  // A function may still run, or a part that was starting never start.
  await Promise.race([pause(maxStopMs), Promise.allSettled(parts.map(async (part) => (await part).stop()))]);
  process.exit(exitCode);
}

/** Without one of its processes the stack would keep listening and answer only errors. */
function stopWithout(sentence: string): void {
  if (stopping.signal.aborted) return;
  process.stderr.write(`${sentence} The local stack stops too; start it again with npm start.\n`);
  void stop(1);
}

/** npm sends a signal to the shell between it and this process, and the shell exits without passing it on. */
function stopWithParent(): void {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(0), 500).unref();
}

const command = createCommand({ name: 'npm start --', notes })
  .option('--fresh', 'start without the data of earlier starts')
  .addHelpText('after', environment)
  .option('--empty', 'start without the example nodes')
  .action(async (options: Options) => {
    // npm forwards a Ctrl-C that this process also got from the terminal.
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void stop(0));
    stopWithParent();
    await start(options).catch((error: Error) => {
      process.stderr.write(`${error.message}\n`);
      return stop(1);
    });
  });

process.exitCode = await runCommand(command, process.argv.slice(2));
