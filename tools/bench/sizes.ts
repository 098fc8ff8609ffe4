import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle } from '../../infra/bundle/build.ts';
import { amount, type Figure } from './figures.ts';

const proxies = ['text-to-video', 'extend-video', 'multiframe-video', 'relight-image'];
const stores = ['update-node', 'update-host-node', 'publish-node-version', 'bulk-node-versions'];

/** What each function loads before it can respond: its bundle. */
export async function measureSizes(): Promise<Figure[]> {
  return Promise.all(
    [...proxies, ...stores, 'finalize-upload'].map(async (name) =>
      amount(`first load: ${name}`, 'KB', await gzippedKilobytes(name)),
    ),
  );
}

async function gzippedKilobytes(name: string): Promise<number> {
  const outputs = await bundle(`functions/${name}.ts`, 'dist');
  const index = outputs.find(({ path }) => basename(path) === 'index.js');
  return gzipSync(index?.contents ?? '').length / 1024;
}
