import { relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle } from '../../infra/bundle/build.ts';
import { amount, type Figure } from './figures.ts';

const proxies = ['text-to-video', 'extend-video', 'multiframe-video', 'relight-image'];
const stores = ['update-node', 'update-host-node', 'publish-node-version', 'bulk-node-versions'];

/** The files that each function loads before it can respond: its entry and its static imports. */
export async function measureSizes(): Promise<Figure[]> {
  return Promise.all(
    [...proxies, ...stores, 'finalize-upload'].map(async (name) =>
      amount(`first load: ${name}`, 'KB', await firstLoadOf(name)),
    ),
  );
}

/** In kilobytes, gzipped. */
async function firstLoadOf(name: string): Promise<number> {
  const { outputs, metafile } = await bundle(`functions/${name}.ts`, 'dist');
  const contents = new Map(outputs.map(({ path, contents }) => [relative('.', path), contents]));
  const first = new Set(['dist/index.js']);
  for (const file of first) {
    for (const { kind, path } of metafile.outputs[file]?.imports ?? [])
      if (kind === 'import-statement') first.add(path);
  }
  return [...first].reduce((sum, file) => sum + gzipSync(contents.get(file) ?? '').length, 0) / 1024;
}
