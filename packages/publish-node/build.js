import { writeFileSync } from 'node:fs';
import { billOf, noticesOf, packagesIn } from '@node-registry/command-line/bundled-packages';
import { build } from 'esbuild';
import manifest from './package.json' with { type: 'json' };

/** The command is one file for Node 20; the reader of host nodes is another, which it loads when needed. */
const options = {
  bundle: true,
  conditions: ['in-tree', 'module'],
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};

const extraction = {
  name: 'extraction',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/extraction\.ts$/ }, () => ({ path: './extraction.cjs', external: true }));
  },
};

const built = await Promise.all([
  build({
    ...options,
    entryPoints: ['publish-node.ts'],
    outfile: 'dist/publish-node.cjs',
    plugins: [extraction],
  }),
  build({ ...options, entryPoints: ['extraction.ts'], outfile: 'dist/extraction.cjs' }),
]);

const outputs = Object.assign({}, ...built.map(({ metafile }) => metafile.outputs));
const packages = packagesIn({ outputs });
writeFileSync('dist/sbom.cdx.json', billOf(manifest, packages));
writeFileSync('dist/THIRD-PARTY.txt', noticesOf(packages));
