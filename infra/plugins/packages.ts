import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { fromBufferPromise } from 'yauzl';

const run = promisify(execFile);

/** Packaging needs no credentials, and a template must not depend on the environment of the person who packages. */
export const bareEnvironment = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  SLS_TELEMETRY_DISABLED: '1',
};

/** What a stage needs and has no default. */
export const requiredParameters = {
  tokenIssuer: 'https://issuer.example.com/',
  tokenKeySetUrl: 'https://issuer.example.com/.well-known/jwks.json',
  imageProviderUrl: 'https://image.example.com',
  videoProviderUrl: 'https://video.example.com',
  bucketName: 'archives-of-the-tests',
};

/** Packages a stage as a deployment does, out of the project in `project` and its `dist`. */
export async function packageStage(
  project: string,
  folder: string,
  parameters: Record<string, string>,
): Promise<void> {
  await packageWith(project, folder, flagsOf(parameters));
}

/** What a person would write after `npm run deploy --` for the stage `prod`. */
export function flagsOf(parameters: Record<string, string>): string[] {
  return [
    '--stage',
    'prod',
    ...Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`),
  ];
}

/** The same with any stage, region and parameters. Returns what the framework printed. */
export async function packageWith(
  project: string,
  folder: string,
  flags: readonly string[],
): Promise<string> {
  const args = ['package', '--package', folder, ...flags];
  const { stdout, stderr } = await run('serverless', args, { cwd: project, env: bareEnvironment });
  return stdout + stderr;
}

/** The template as it is deployed. */
export function templateIn(folder: string): string {
  return join(folder, 'cloudformation-template-update-stack.json');
}

/** Each function's zip, by the function's name in serverless.yml. */
export async function readZips(folder: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.zip'));
  const zips = names.map(async (name) => [parse(name).name, await readFile(join(folder, name))] as const);
  return new Map(await Promise.all(zips));
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
