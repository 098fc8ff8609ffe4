import { build } from 'esbuild';

/** The command is one file for Node 20; the reader of host nodes is another, which it loads when needed. */
const options = {
  bundle: true,
  conditions: ['in-tree', 'module'],
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
};

const extraction = {
  name: 'extraction',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/extraction\.ts$/ }, () => ({ path: './extraction.cjs', external: true }));
  },
};

await Promise.all([
  build({
    ...options,
    entryPoints: ['publish-node.ts'],
    outfile: 'dist/publish-node.cjs',
    plugins: [extraction],
  }),
  build({ ...options, entryPoints: ['extraction.ts'], outfile: 'dist/extraction.cjs' }),
]);
