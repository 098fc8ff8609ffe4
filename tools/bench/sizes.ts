import { gzipSync } from 'node:zlib';
import { fileOf, loadContracts } from '../../infra/operations.ts';
import { bundle } from '../../infra/bundle/build.ts';
import type { Figure } from './figures.ts';

/** The code that each function loads before it can respond: its bundle, in kilobytes, gzipped. */
export async function measureSizes(): Promise<Figure[]> {
  const names = [...(await loadContracts()).map(({ name }) => fileOf(name)), 'finalize-upload'];
  const outputs = await bundle(
    Object.fromEntries(names.map((name) => [name, `functions/${name}.ts`])),
    'dist',
  );
  const sizeOf = (name: string) => {
    const file = outputs.find(({ path }) => path.endsWith(`${name}.js`));
    return gzipSync(file?.contents ?? '').length / 1024;
  };
  return names.map((name) => ({ name: `first load: ${name}`, unit: 'KB', median: sizeOf(name) }));
}
