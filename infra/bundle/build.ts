import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, parse, relative, resolve } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { billOf, packagesIn } from '@node-registry/command-line/bundled-packages';
import { createCommand, runCommand } from '@node-registry/command-line/command';
import manifest from '../../package.json' with { type: 'json' };
import { absentGlobals, lambdaPlugins } from './lambda-plugins.ts';

interface BundledFile {
  path: string;
  contents: Uint8Array;
}

/** Bundles every function into its own folder, as it is deployed: `dist/<name>/index.js`, an ES module. */
export async function buildFunctions(): Promise<void> {
  const files = (await readdir('functions')).filter((file) => file.endsWith('.ts'));
  const names = files.map((file) => parse(file).name);
  const entries = names.map((name) => [`${name}/index`, `functions/${name}.ts`]);
  const entryPoints = { ...Object.fromEntries(entries), ...threads };
  const { outputFiles, metafile } = await build({ ...bundling, entryPoints, outdir: resolve('dist') });
  const outputs: BundledFile[] = [
    ...outputFiles,
    ...names.map((name) => manifestOf(resolve('dist', name))),
    ...names.map((name) => {
      const packages = packagesIn(metafile, (path) => path.startsWith(`dist/${name}/`));
      const bill = billOf({ name, version: manifest.version }, packages);
      // Next to the functions, so that no function contains it.
      return { path: resolve('dist', `${name}.cdx.json`), contents: Buffer.from(bill) };
    }),
  ];
  await replaceAll(outputs);
  await removeOthers(new Set(outputs.map(({ path }) => path)));
}

/** Each file that a function runs in a thread is separate, next to the function's own. */
const threads = { 'extract-host-nodes/extraction-worker': '@node-registry/host-nodes/worker' };

/** Makes Node treat every file of a folder as an ES module. */
export function manifestOf(folder: string): BundledFile {
  return { path: join(folder, 'package.json'), contents: Buffer.from('{"type":"module"}\n') };
}

/**
 * Bundles in memory; outputs have their paths in the folder. A function's code is one file: each further one
 * would add half a millisecond to every cold start.
 */
export async function bundle(entryPoints: Record<string, string>, folder: string): Promise<BundledFile[]> {
  const { outputFiles } = await build({ ...bundling, entryPoints, outdir: folder });
  return outputFiles;
}

/** The options for deployed code. */
export const bundling = {
  write: false,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  conditions: ['in-tree', 'module'],
  mainFields: ['module', 'main'],
  minify: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  define: absentGlobals,
  plugins: [...lambdaPlugins],
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * A local stack or a test that loads a bundle during a build gets the old one or the new one, never half of
 * it. Temporary files stay out of dist, because all of it is deployed, including leftovers of an interrupted
 * build.
 */
async function replaceAll(outputs: readonly BundledFile[]): Promise<void> {
  await mkdir('.local', { recursive: true });
  const temporary = await mkdtemp(resolve('.local', 'build-'));
  try {
    await Promise.all(outputs.map((output) => replace(output, temporary)));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function replace({ path, contents }: BundledFile, temporary: string): Promise<void> {
  const current = await readFile(path).catch(() => undefined);
  if (current?.equals(contents)) return;
  const written = join(temporary, relative(resolve('dist'), path).replaceAll(/[\\/]/g, '-'));
  await writeFile(written, contents);
  await mkdir(dirname(path), { recursive: true });
  await rename(written, path);
}

async function removeOthers(paths: ReadonlySet<string>): Promise<void> {
  const entries = await readdir(resolve('dist'), { recursive: true, withFileTypes: true });
  const stale = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !paths.has(path));
  await Promise.all(stale.map((path) => rm(path, { force: true })));
}

if (import.meta.main) {
  const command = createCommand({
    name: 'npm run build --',
    summary: 'Bundles every function into dist/, as it is deployed',
  }).action(buildFunctions);
  process.exitCode = await runCommand(command, process.argv.slice(2));
}
