import { gzipSync } from 'node:zlib';
import { bundle } from '../../infra/bundle/build.ts';
import { amount, type Figure } from './figures.ts';

const proxies = ['text-to-video', 'extend-video', 'multiframe-video', 'relight-image'];
const stores = ['update-node', 'update-host-node', 'publish-node-version', 'bulk-node-versions'];

/** What each function loads before it can respond: its bundle, in kilobytes, gzipped. */
export async function measureSizes(): Promise<Figure[]> {
  const names = [...proxies, ...stores, 'finalize-upload'];
  const outputs = await bundle(
    Object.fromEntries(names.map((name) => [name, `functions/${name}.ts`])),
    'dist',
  );
  const sizeOf = (name: string) => {
    const file = outputs.find(({ path }) => path.endsWith(`${name}.js`));
    return gzipSync(file?.contents ?? '').length / 1024;
  };
  return names.map((name) => amount(`first load: ${name}`, 'KB', sizeOf(name)));
}
