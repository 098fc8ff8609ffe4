import { relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle } from '../../infra/bundle/build.ts';
import { amount, type Figure } from './figures.ts';

export interface Load {
  /** In kilobytes, gzipped. */
  kilobytes: number;
  /** The source files that it has a part of. */
  inputs: string[];
}

const proxies = ['text-to-video', 'extend-video', 'multiframe-video', 'relight-image'];
const stores = ['update-node', 'update-host-node', 'publish-node-version', 'bulk-node-versions'];

/** The files that each function loads before it can respond: its entry and its static imports. */
export async function measureSizes(): Promise<Figure[]> {
  return Promise.all(
    [...proxies, ...stores, 'finalize-upload'].map(async (name) =>
      amount(`first load: ${name}`, 'KB', (await loadsOf(name)).first.kilobytes),
    ),
  );
}

/** The files that a function loads at its start, and everything in its package. */
export async function loadsOf(name: string): Promise<{ first: Load; whole: Load }> {
  const { outputs, metafile } = await bundle(`functions/${name}.ts`, 'dist');
  const contents = new Map(outputs.map(({ path, contents }) => [relative('.', path), contents]));
  const load = (files: string[]): Load => ({
    kilobytes: files.reduce((sum, file) => sum + gzipSync(contents.get(file) ?? '').length, 0) / 1024,
    inputs: files.flatMap((file) =>
      Object.entries(metafile.outputs[file]?.inputs ?? {})
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([input]) => input),
    ),
  });
  const first = new Set(['dist/index.js']);
  for (const file of first) {
    for (const { kind, path } of metafile.outputs[file]?.imports ?? [])
      if (kind === 'import-statement') first.add(path);
  }
  const whole = Object.keys(metafile.outputs).filter((file) => file.endsWith('.js'));
  return { first: load([...first]), whole: load(whole) };
}
