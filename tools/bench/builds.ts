import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundle, manifestOf } from '../../infra/bundle/build.ts';

/** Bundles a handler in the usual way: everything minified, with the shim that CommonJS needs in an ES module. */
export async function buildUsually(entry: string, folder: string): Promise<string> {
  const file = join(folder, 'index.js');
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return file;
}

/** Bundles the measured endpoint like the functions of this service, and the one written by hand in the usual way. */
export async function buildEndpoints(folder: string): Promise<{ ours: string; byHand: string }> {
  const [ours, byHand] = await Promise.all([
    buildOurs('tools/bench/endpoint.ts', join(folder, 'endpoint')),
    buildUsually('tools/bench/endpoint-by-hand.ts', join(folder, 'endpoint-by-hand')),
  ]);
  return { ours, byHand };
}

async function buildOurs(entry: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const outputs = [...(await bundle({ index: entry }, folder)), manifestOf(folder)];
  await Promise.all(outputs.map(({ path, contents }) => writeFile(path, contents)));
  return join(folder, 'index.js');
}

/** A handler without dependencies: no handler can start faster. */
export async function buildFloor(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'index.js');
  await writeFile(
    file,
    'export const handler = async ({ body }) => ({ statusCode: 200, body: JSON.stringify(JSON.parse(body)) });',
  );
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return file;
}
