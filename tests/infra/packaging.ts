import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
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

/** A project of one test file, to package what it likes. */
export async function builtProject(): Promise<string> {
  const folder = join(String(process.env.TEST_DIRECTORY), 'project');
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
  const isFirst = await mkdir(`${name}-claimed`).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const problem = await work().then(
      () => '',
      (error) => [error, error.stdout, error.stderr].join('\n'),
    );
    await writeFile(`${name}-problem`, problem);
    await mkdir(`${name}-ended`);
  }
  await until(() => existsSync(`${name}-ended`));
  const problem = await readFile(`${name}-problem`, 'utf8');
  if (problem) throw new Error(`${name} was not made: ${problem}`);
}

async function readPackage(folder: string): Promise<Packaged> {
  const file = templateIn(folder);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.zip'));
  const zips = names.map(async (name) => [parse(name).name, await readFile(join(folder, name))] as const);
  const template = JSON.parse(await readFile(file, 'utf8'));
  return { template, file, zips: new Map(await Promise.all(zips)) };
}

export async function unzipInto(folder: string, zip: Buffer): Promise<void> {
  for (const [name, bytes] of await unzip(zip)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytes);
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
