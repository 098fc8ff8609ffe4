import { transformSync } from 'esbuild';

/** Strips types with the same esbuild that bundles the packages. */
export default {
  process: (source, sourcefile) =>
    transformSync(source, { loader: 'ts', format: 'esm', target: 'node24', sourcemap: 'inline', sourcefile }),
};
