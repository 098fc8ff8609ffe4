import { existsSync, renameSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { S3Event, SQSEvent } from 'aws-lambda';
import { buildSync } from 'esbuild';
import { fromBufferPromise } from 'yauzl';
import { writeTo } from '../../packages/publish-node/output.ts';
import { run } from '../../packages/publish-node/program.ts';
import { consumeQueue } from '../../tools/local/consume-queue.ts';
import { finalizeOnUpload, queueOnPublish } from '../../tools/local/finalize-on-upload.ts';
import { startS3 } from '../../tools/local/s3.ts';
import { startSqs } from '../../tools/local/sqs.ts';
import { startHttpApi } from './http-api.ts';
import { runProgram } from './run-program.ts';
import { setVariables } from './variables.ts';

/** The registry with its own S3, whose events this process receives and can lose. */
export async function startRegistry() {
  const directory = await mkdtemp(join(tmpdir(), 'node-registry-publish-'));
  const bucket = await startS3(0, join(directory, 's3'), String(process.env.BUCKET_NAME));
  process.env.AWS_ENDPOINT_URL_S3 = bucket.url;
  const events = { areLost: false, ofArchivesAreLost: false };
  const finalize = async (
    event: S3Event,
    context: { awsRequestId: string; getRemainingTimeInMillis: () => number },
  ) => {
    if (events.areLost) return;
    const { handler } = await import('../../functions/finalize-upload.ts');
    await handler(event, context);
  };
  const extract = async (event: SQSEvent, context: { getRemainingTimeInMillis: () => number }) => {
    const { handler } = await import('../../functions/extract-host-nodes.ts');
    return handler(event, context);
  };
  const sqs = await startSqs(0, { extractions: { visibilitySeconds: 1, delaySeconds: 0 } });
  const queueUrl = sqs.queueUrl('extractions');
  setVariables({ EXTRACTION_QUEUE_URL: queueUrl });
  const mapping = { timeoutMs: 120_000, batchSize: 1, maximumConcurrency: 2 };
  const consumer = consumeQueue({ queueUrl, load: async () => extract, ...mapping });
  queueOnPublish(bucket, {
    send: (body) => events.ofArchivesAreLost || sqs.queue('extractions').send(body),
  });
  const s3 = { ...bucket, ...finalizeOnUpload(bucket, async () => finalize) };
  const api = await startHttpApi();
  const { seed } = await import('../../tools/local/seed.ts');
  await seed();
  const stop = async () => {
    await Promise.all([api.stop(), s3.stop()]);
    await sqs.stop();
    await consumer.stop();
    await rm(directory, { recursive: true });
  };
  return { api, events, directory, stop };
}

export interface Ending {
  code: number;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

const own = /^(?:GITHUB_|GITLAB_|ACTIONS_|NODE_REGISTRY_|GIT_|npm_|NODE_OPTIONS$|INIT_CWD$)/;

/** This process's environment without the variables of npm, git and CI, as in a person's shell. */
export const plainEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !own.test(name)),
);

export async function runFile(
  file: string,
  args: readonly string[],
  { cwd, env }: RunOptions = {},
): Promise<Ending> {
  const absent = Object.keys(process.env).filter((name) => own.test(name));
  const environment = { ...Object.fromEntries(absent.map((name) => [name, undefined])), ...env };
  const { status, ...output } = await runProgram(file, args, { environment, ...(cwd && { cwd }) });
  return { code: status, ...output };
}

/** The packed command, which starts in a third of the time of its sources. The first test file of a run builds it. */
export const program = join(String(process.env.TEST_DIRECTORY), 'publish-node.cjs');

if (!existsSync(program)) {
  const outfile = `${program}.${process.pid}`;
  buildSync({
    entryPoints: ['packages/publish-node/publish-node.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  renameSync(outfile, program);
}

let turn: Promise<unknown> = Promise.resolve();

/** Runs the command in this process, one run after another, since its environment is this process's. */
export function publishNode(args: readonly string[], options: RunOptions = {}): Promise<Ending> {
  if (options.cwd !== undefined) return spawnPublishNode(args, options);
  const ending = turn.then(() => runHere(args, options.env));
  turn = ending.catch(() => undefined);
  return ending;
}

async function runHere(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ending> {
  const before = { ...process.env };
  const ending: Ending = { code: 0, stdout: '', stderr: '' };
  writeTo({
    stdout: { write: (text) => (ending.stdout += text) },
    stderr: { write: (text) => (ending.stderr += text) },
  });
  try {
    for (const name of Object.keys(before)) if (own.test(name)) delete process.env[name];
    for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
    ending.code = await run(args);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    writeTo(process);
  }
  return ending;
}

/** Runs the packed command in a process of its own. */
function spawnPublishNode(args: readonly string[], options?: RunOptions): Promise<Ending> {
  return runFile(process.execPath, [program, ...args], options);
}

/** What shows a publish of a folder that has no metadata, without sending anything. */
export function dryRun(folder: string): string[] {
  return [...'publish --dry-run --publisher demo --node x --version 1.0.0'.split(' '), folder];
}

export type Files = Record<string, string | Buffer>;

export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

/** Git without the settings of this machine. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const env = {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };
  const { code, stdout, stderr } = await runFile('git', args, { cwd: folder, env });
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** The files of a zip by name, as a current unpacker reads them. */
export async function unzip(archive: Uint8Array): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const zip = await fromBufferPromise(Buffer.from(archive));
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk);
    files.set(entry.fileName, Buffer.concat(chunks));
  }
  return files;
}
