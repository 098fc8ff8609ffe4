import { transform, transformSync } from 'esbuild';

const options = (path) => ({
  loader: 'ts',
  format: 'esm',
  target: 'node24',
  sourcemap: 'inline',
  sourcefile: path,
});

/** Jest's TypeScript: types are stripped by the same esbuild that bundles the functions. */
export default {
  // Only the global setup needs it. It starts a process for each file; the other has one for all.
  process: (source, path) => transformSync(source, options(path)),
  processAsync: (source, path) => transform(source, options(path)),
};
