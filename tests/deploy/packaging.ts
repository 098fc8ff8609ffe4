import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bareEnvironment, packageStage, readZips, requiredParameters } from '../../tools/deploy/packages.ts';

const run = promisify(execFile);

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

/** Everything that can be switched on. */
export const everything = {
  ...requiredParameters,
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
  return packageOnce('plain', requiredParameters);
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
    await buildAndPackage(folder, parameters);
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
async function buildAndPackage(folder: string, parameters: Record<string, string>): Promise<void> {
  const sources = ['functions', 'lib', 'tools', 'node_modules'];
  await Promise.all(sources.map((name) => symlink(resolve(name), join(folder, name))));
  await Promise.all(['serverless.yml', 'package.json'].map((name) => copyFile(name, join(folder, name))));
  await run('node', ['tools/build/build.ts'], { cwd: folder, env: bareEnvironment });
  await packageStage(folder, 'packaged', parameters);
}

async function readPackage(folder: string): Promise<Packaged> {
  const file = join(folder, 'cloudformation-template-update-stack.json');
  return { template: JSON.parse(await readFile(file, 'utf8')), file, zips: await readZips(folder) };
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
