import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { billOf, noticesOf, packagesIn } from '@node-registry/command-line/bundled-packages';
import { build } from 'esbuild';
import manifest from './package.json' with { type: 'json' };

rmSync('dist', { recursive: true, force: true });

const sources = readdirSync('.').filter((file) => file.endsWith('.ts') && file !== 'generate-types.ts');

/** Each module stays a file, so that all entries share one RegistryError; the packages it needs are in it. */
const formats = [
  { format: 'esm', extension: 'js' },
  // An older Node.js can't import() there.
  { format: 'cjs', extension: 'cjs', platform: 'node', supported: { 'dynamic-import': false } },
];
const outputs = {};
for (const { extension, ...options } of formats) {
  const { metafile } = await build({
    entryPoints: sources,
    outdir: 'dist',
    outExtension: { '.js': `.${extension}` },
    bundle: true,
    target: 'es2022',
    legalComments: 'eof',
    metafile: true,
    logLevel: 'warning',
    plugins: [
      {
        name: 'own-modules',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\/[\w-]+\.ts$/ }, ({ path, kind, importer }) =>
            kind === 'entry-point' || importer.includes('node_modules')
              ? undefined
              : { path: path.replace(/ts$/, extension), external: true, sideEffects: false },
          ),
      },
    ],
    ...options,
  });
  Object.assign(outputs, metafile.outputs);
}

const packages = packagesIn({ outputs });
writeFileSync('dist/sbom.cdx.json', billOf(manifest, packages));
writeFileSync('dist/THIRD-PARTY.txt', noticesOf(packages));

execFileSync(process.execPath, [createRequire(import.meta.url).resolve('typescript/bin/tsc')], {
  stdio: 'inherit',
});

for (const name of readdirSync('dist').filter((file) => file.endsWith('.d.ts'))) {
  const types = readFileSync(`dist/${name}`, 'utf8');
  // The compiler keeps both, and TypeScript before 5.7 reads neither.
  const of = (extension) =>
    types
      .replaceAll(/(["'])(\.\/[\w-]+)\.ts\1/g, `$1$2.${extension}$1`)
      .replaceAll(/\bUint8Array<\w+>/g, 'Uint8Array');
  writeFileSync(`dist/${name}`, of('js'));
  writeFileSync(`dist/${name.replace(/ts$/, 'cts')}`, of('cjs'));
}
