import { transformSync } from 'esbuild';

/** Jest's TypeScript: types are stripped by the same esbuild that bundles the functions. */
export default {
  process: (source, path) =>
    transformSync(source, {
      loader: 'ts',
      format: 'esm',
      target: 'node24',
      sourcemap: 'inline',
      sourcefile: path,
      define: path.endsWith('extract-in-worker.ts')
        ? { 'import.meta.url': 'process.env.EXTRACTION_BUNDLE' }
        : {},
    }),
};
