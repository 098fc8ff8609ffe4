import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, parse, resolve } from 'node:path';
import { promisify } from 'node:util';
import { jest } from '@jest/globals';
import { bareEnvironment, flagsOf, packageWith, templateIn } from '../../infra/plugins/packages.ts';
import { upperFirst } from '../../infra/template/alarm-resources.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { until } from '@node-registry/testing/until';
import { unzip } from '@node-registry/testing/unzip';

const run = promisify(execFile);

// Several files of a run wait for the same builds.
jest.setTimeout(400_000);

export interface Template {
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

/** One set is built apart, to be compared; the others come out of one build. */
const builtApart = 'direct';

/** A stage with one of the sets of parameters, packaged once for all test files of a run. */
export async function packagedStage(set: keyof typeof parameterSets): Promise<Packaged> {
  const folder = join(String(process.env.TEST_DIRECTORY), `stage-${set}`);
  await once(folder, async () => {
    if (set === builtApart) await build(folder);
    else await makeProject(folder, await builtFunctions());
    await packageWith(folder, 'packaged', flagsOf(parameterSets[set]));
  });
  return readPackage(join(folder, 'packaged'));
}

/** Built once for all test files of a run, in a folder of its own: the local stacks of other tests build into dist. */
export async function builtFunctions(): Promise<string> {
  const folder = join(String(process.env.TEST_DIRECTORY), 'build');
  await once(folder, () => build(folder));
  return join(folder, 'dist');
}

/** Builds over what an interrupted build has left. */
async function build(folder: string): Promise<void> {
  await makeProject(folder);
  await mkdir(join(folder, 'dist/update-node'), { recursive: true });
  await writeFile(join(folder, 'dist/update-node/index.js.4711.new'), 'half of');
  // Otherwise esbuild spends a third of its time collecting garbage.
  const env = { ...bareEnvironment, GOGC: 'off' };
  await run('node', ['infra/bundle/build.ts'], { cwd: folder, env });
}

/** A project of a test's own, to package what it likes. */
export async function builtProject(name: string): Promise<string> {
  const folder = join(String(process.env.TEST_DIRECTORY), `project-${name}`);
  await makeProject(folder, await builtFunctions());
  return folder;
}

/** What a deployment needs of the repository. Two packagings in one folder would disturb each other. */
async function makeProject(folder: string, built?: string): Promise<void> {
  await mkdir(folder);
  const sources = ['docs', 'functions', 'infra', 'lib', 'packages', 'tools', 'node_modules'];
  await Promise.all(sources.map((name) => symlink(resolve(name), join(folder, name))));
  await Promise.all(['serverless.yml', 'package.json'].map((name) => copyFile(name, join(folder, name))));
  if (built) await cp(built, join(folder, 'dist'), { recursive: true });
}

/** The file that comes first does the work, the others wait until it is done or has failed. */
async function once(name: string, work: () => Promise<void>): Promise<void> {
  const [ready, failed] = [`${name}-ready`, `${name}-failed`];
  const isFirst = await mkdir(`${name}-claimed`).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'EEXIST',
  );
  if (isFirst) {
    await work().catch(async (error) => {
      const { stdout = '', stderr = '' }: { stdout?: string; stderr?: string } = error;
      await writeFile(failed, `${error}\n${stdout}${stderr}`);
      throw error;
    });
    await writeFile(ready, '');
  }
  await until(() => existsSync(ready) || existsSync(failed));
  if (existsSync(failed)) throw new Error(`${name} was not made: ${await readFile(failed, 'utf8')}`);
}

async function readPackage(folder: string): Promise<Packaged> {
  const file = templateIn(folder);
  return { template: JSON.parse(await readFile(file, 'utf8')), file, zips: await readZips(folder) };
}

/** Each function's zip, by the function's name in serverless.yml. */
async function readZips(folder: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.zip'));
  const zips = names.map(async (name) => [parse(name).name, await readFile(join(folder, name))] as const);
  return new Map(await Promise.all(zips));
}

export async function unzipInto(folder: string, zip: Buffer): Promise<void> {
  for (const [name, bytes] of await unzip(zip)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytes);
  }
}

/** The message for packaging with these flags, if they are rejected. */
export async function rejectionOf(flags: readonly string[], project = '.'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'node-registry-rejected-'));
  try {
    await packageWith(project, folder, flags);
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The functions by their names in serverless.yml. */
export const functionNames = readdirSync('functions').map((file) => camelCase(file.replace('.ts', '')));

/** Those without a route: an unknown fault of theirs fails the invocation. */
export function eventFunctions(stage: Packaged): string[] {
  const routed = JSON.stringify(ofType(stage, 'AWS::ApiGatewayV2::Integration'));
  return functionNames.filter((name) => !routed.includes(`"${upperFirst(name)}LambdaFunction"`));
}

export function properties({ template }: Packaged, id: string): Part {
  const found = template.Resources[id];
  if (!found) throw new Error(`There is no ${id}.`);
  return found.Properties;
}

/** The properties of all resources of a type, by their names. */
export function ofType({ template }: Packaged, type: string): [string, Part][] {
  return Object.entries(template.Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([id, { Properties }]) => [id, Properties]);
}
