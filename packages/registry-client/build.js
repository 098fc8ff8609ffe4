import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { billOf, noticesOf, packagesIn } from '@node-registry/command-line/bundled-packages';
import { build } from 'esbuild';
import manifest from './package.json' with { type: 'json' };

rmSync('dist', { recursive: true, force: true });

// One file, so that the package needs no others, and a page can load it directly.
const { metafile } = await build({
  entryPoints: ['client.ts'],
  outfile: 'dist/client.js',
  bundle: true,
  format: 'esm',
  target: 'es2022',
  sourcemap: true,
  legalComments: 'eof',
  metafile: true,
  logLevel: 'warning',
});

const packages = packagesIn(metafile);
writeFileSync('dist/sbom.cdx.json', billOf(manifest, packages));
writeFileSync('dist/THIRD-PARTY.txt', noticesOf(packages));

execFileSync(process.execPath, [createRequire(import.meta.url).resolve('typescript/bin/tsc')], {
  stdio: 'inherit',
});

// The compiler keeps both, and TypeScript before 5.7 reads neither.
for (const name of readdirSync('dist').filter((file) => file.endsWith('.d.ts'))) {
  const types = readFileSync(`dist/${name}`, 'utf8');
  const older = types
    .replaceAll(/(["'])(\.\/[\w-]+)\.ts\1/g, '$1$2.js$1')
    .replaceAll(/\bUint8Array<\w+>/g, 'Uint8Array');
  writeFileSync(`dist/${name}`, older);
}
