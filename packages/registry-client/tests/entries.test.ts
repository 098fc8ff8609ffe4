import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import packageFile from '../package.json' with { type: 'json' };

test.each<[keyof typeof packageFile.exports, number]>([
  ['./webhooks', 2],
  ['./errors', 2],
  ['./paid', 9],
  ['./search', 9],
])('%s costs a page at most %d KB, minified and gzipped', async (entry, kilobytes) => {
  const { 'in-tree': file } = Object(packageFile.exports[entry]);
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '..', file)],
    ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', write: false },
  });

  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(kilobytes * 1024);
});
