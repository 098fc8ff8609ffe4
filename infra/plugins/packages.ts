import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Packaging needs no credentials, and a template must not depend on the packager's environment. */
export const bareEnvironment = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  SLS_TELEMETRY_DISABLED: '1',
  // As in .npmrc: no package of this tree need be built.
  NODE_OPTIONS: '--conditions=in-tree',
};

/** The parameters that a stage needs and that have no default. */
export const requiredParameters = {
  tokenIssuer: 'https://issuer.example.com/',
  tokenKeySetUrl: 'https://issuer.example.com/.well-known/jwks.json',
  imageProviderUrl: 'https://image.example.com',
  videoProviderUrl: 'https://video.example.com',
  bucketName: 'archives-of-the-tests',
  creditsPerDay: '1000',
  creditRates:
    '[{"operation":"textToVideo","second":20},{"operation":"extendVideo","second":20},{"operation":"multiframeVideo","second":20}]',
};

/** The arguments that a person would type after `npm run deploy --` for the stage `prod`. */
export function flagsOf(parameters: Record<string, string>): string[] {
  const given = Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`);
  return ['--stage', 'prod', ...given];
}

/** Packages a stage as a deployment does, from `project` and its `dist`. Returns the framework's output. */
export async function packageWith(
  project: string,
  folder: string,
  flags: readonly string[],
): Promise<string> {
  const args = ['package', '--package', folder, ...flags];
  const { stdout, stderr } = await run('serverless', args, { cwd: project, env: bareEnvironment });
  return stdout + stderr;
}

export function templateIn(folder: string): string {
  return join(folder, 'cloudformation-template-update-stack.json');
}
