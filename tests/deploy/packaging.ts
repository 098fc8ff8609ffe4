import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, parse, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fromBufferPromise } from 'yauzl';

const run = promisify(execFile);

/** Nothing of the test run's own environment may end in a template, and no credentials are needed. */
const bareEnvironment = { PATH: process.env.PATH, HOME: tmpdir(), SLS_TELEMETRY_DISABLED: '1' };

/** A resource or another part of the template, read where a test looks into it. */
// biome-ignore lint/suspicious/noExplicitAny: CloudFormation nests freely
export type Part = any;

export interface Template {
  Conditions: Record<string, Part>;
  Resources: Record<string, { Type: string; Properties: Part; [attribute: string]: Part }>;
  Outputs: Record<string, Part>;
}

export interface Packaged {
  template: Template;
  /** The template as it is deployed. */
  file: string;
  /** Each function's zip. */
  zips: Map<string, Buffer>;
}

/** What a stage needs and has no default. */
export const required = {
  tokenIssuer: 'https://issuer.example.com/',
  tokenKeySetUrl: 'https://issuer.example.com/.well-known/jwks.json',
  imageProviderUrl: 'https://image.example.com',
  videoProviderUrl: 'https://video.example.com',
  bucketName: 'archives-of-the-tests',
};

/** Everything that can be switched on. */
export const everything = {
  ...required,
  imageProviderKey: 'secretsmanager:image-key',
  secretsKeyArn: 'arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab',
  downloadBaseUrl: 'https://cdn.example.com',
  corsOrigins: 'https://a.example.com,https://b.example.com',
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/1234abcd-12ab-34cd-56ef-1234567890ab',
  hostedZoneId: 'Z1234567890',
  alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:alarms',
  tracing: 'Active',
  rollout: 'LambdaCanary10Percent5Minutes',
};

const patienceMs = 50_000;

/** A stage with as little as can be given, packaged once for all test files of a run. */
export function packagePlainStage(): Promise<Packaged> {
  return packageOnce('plain', required);
}

export function packageFullStage(): Promise<Packaged> {
  return packageOnce('full', everything);
}

/** The file that comes first makes the folder and the package in it, the others wait for what it leaves. */
async function packageOnce(name: string, parameters: Record<string, string>): Promise<Packaged> {
  const folder = join(String(process.env.TEST_DIRECTORY), `package-${name}`);
  const ready = join(folder, 'ready');
  const isFirst = await mkdir(folder).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'EEXIST',
  );
  if (isFirst) {
    await packageStage(folder, parameters);
    await writeFile(ready, '');
  }
  for (const end = Date.now() + patienceMs; !existsSync(ready); await pause(50))
    if (Date.now() > end) throw new Error(`The package "${name}" was not made.`);
  return readPackage(join(folder, 'packaged'));
}

/**
 * Builds and packages in a folder of its own: other tests start the local stack at the same time, which builds anew,
 * and two folders show that the zips do not depend on where they were made.
 */
async function packageStage(folder: string, parameters: Record<string, string>): Promise<void> {
  const sources = ['functions', 'lib', 'tools', 'node_modules'];
  await Promise.all(sources.map((name) => symlink(resolve(name), join(folder, name))));
  await Promise.all(['serverless.yml', 'package.json'].map((name) => copyFile(name, join(folder, name))));
  const flags = Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`);
  const options = { cwd: folder, env: bareEnvironment };
  await run('node', ['tools/build/build.ts'], options);
  await run('serverless', ['package', '--stage', 'prod', '--package', 'packaged', ...flags], options);
}

async function readPackage(folder: string): Promise<Packaged> {
  const file = join(folder, 'cloudformation-template-update-stack.json');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.zip'));
  const zips = names.map(async (name) => [parse(name).name, await readFile(join(folder, name))] as const);
  return {
    template: JSON.parse(await readFile(file, 'utf8')),
    file,
    zips: new Map(await Promise.all(zips)),
  };
}

/** What is said to somebody who packages with these flags, where it is refused. */
export async function refusalOf(...flags: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-refused-'));
  const options = { env: bareEnvironment };
  try {
    await run('serverless', ['package', '--package', folder, ...flags], options);
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The files of a zip by name. */
export async function unzip(zip: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const archive = await fromBufferPromise(zip, { lazyEntries: true });
  for await (const entry of archive.eachEntry())
    files.set(entry.fileName, await buffer(await archive.openReadStreamPromise(entry)));
  return files;
}

export async function unzipInto(folder: string, zip: Buffer): Promise<void> {
  for (const [name, bytes] of await unzip(zip)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytes);
  }
}
