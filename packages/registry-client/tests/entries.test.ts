import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import packageFile from '../package.json' with { type: 'json' };

test.each<[entry: keyof typeof packageFile.exports, kilobytes: number, ...names: string[]]>([
  ['./webhooks', 2, 'InvalidNotification', 'verifyNotification'],
  ['./errors', 2, 'RegistryError', 'userMessageOf', 'userMessages'],
  ['./paid', 9, 'createPaidClient'],
  ['./search', 9, 'searchOver'],
])(
  '%s costs a page at most %d KB, minified and gzipped, and promises %s',
  async (entry, kilobytes, ...names) => {
    const { 'in-tree': file } = Object(packageFile.exports[entry]);
    const { outputFiles, metafile } = await build({
      entryPoints: [join(import.meta.dirname, '..', file)],
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      write: false,
      metafile: true,
    });

    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(kilobytes * 1024);
    expect(Object.values(metafile.outputs)[0]?.exports.sort()).toEqual(names);
  },
);
