import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, parse, resolve } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';
import { bundling } from '../../infra/bundle/build.ts';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Template } from '../../infra/plugins/framework.ts';
import { flagsOf, packageWith, templateIn } from '../../infra/plugins/packages.ts';
import { isKept } from '../../infra/plugins/template-changes.ts';
import { commands } from '../admin/commands.ts';
import { parameterDefaults } from '../documents/configuration.ts';
import { type Surface, surfaceOf } from './release-rules.ts';

/** A release as the rehearsal of upgrades runs it next to a later one. */
export interface RecordedRelease {
  /** Its version. */
  name: string;
  /** The texts of its files: functions and administration in one module, and the extraction's thread. */
  files: Record<string, string>;
  /** The parts of two of its stages that hold data or grant rights. */
  templates: Record<'direct' | 'full', Template>;
  surface: Surface;
}

const recordingFile = 'tests/upgrade/last-release.json.br';
const maxBytes = 500_000;

export async function readRecordedRelease(): Promise<RecordedRelease> {
  return JSON.parse(brotliDecompressSync(await readFile(recordingFile)).toString());
}

/** Records this tree's release for the rehearsal of the next one. Returns the size of the file. */
export async function recordRelease(name: string, folder: string): Promise<number> {
  const files = await bundleRelease();
  const direct = await templateOf(folder, 'direct');
  const full = await templateOf(folder, 'full');
  const surface = await surfaceNow(full);
  const templates = { direct: keptOf(direct), full: keptOf(full) };
  const bytes = Buffer.from(JSON.stringify({ name, files, templates, surface } satisfies RecordedRelease));
  const packed = brotliCompressSync(bytes, {
    params: {
      // The thread contains some of the same code: the window must reach from one file to the other.
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  if (packed.length > maxBytes)
    throw new Error(`${recordingFile} would have ${packed.length} bytes, and ${maxBytes} are allowed.`);
  await writeFile(recordingFile, packed);
  return packed.length;
}

/** Each function is loaded by its name, as late as a deployed one. They share one copy of the SDK. */
export async function bundleRelease(minify = true): Promise<Record<string, string>> {
  const names = (await readdir('functions')).map((file) => parse(file).name);
  const entries = [
    ...names.map((name) => [name, `functions/${name}.ts`]),
    ['admin', 'tools/admin/program.ts'],
  ];
  const imports = entries.map(([name, file]) => `'${name}': () => import('./${file}')`);
  const options = { ...bundling, minify, sourcemap: false, outdir: 'release' } as const;
  const contents = `export const modules = { ${imports.join(', ')} };`;
  const built = await Promise.all([
    build({ ...options, stdin: { contents, resolveDir: resolve('.'), sourcefile: 'release.ts' } }),
    build({ ...options, entryPoints: { 'extraction-worker': '@node-registry/host-nodes/worker' } }),
  ]);
  const [all, worker] = built.map(({ outputFiles }) => String(outputFiles[0]?.text));
  return { 'release.js': String(all), 'extraction-worker.js': String(worker) };
}

/** The names that operators and their tools use in this tree, and in a stage of it. */
export async function surfaceNow(template: Template): Promise<Surface> {
  const names = Object.keys(commands).map((name) => [name, 'command']);
  return surfaceOf(template, { ...(await parameterDefaults()), ...Object.fromEntries(names) });
}

async function templateOf(folder: string, set: keyof RecordedRelease['templates']): Promise<Template> {
  const to = join(folder, set);
  await packageWith('.', to, flagsOf(parameterSets[set]));
  return JSON.parse(await readFile(templateIn(to), 'utf8'));
}

function keptOf(template: Template): Template {
  const resources = Object.entries(template.Resources).filter(
    ([, { Type }]) => Type === 'AWS::IAM::Role' || isKept(Type),
  );
  return { ...template, Resources: Object.fromEntries(resources), Outputs: {} };
}
