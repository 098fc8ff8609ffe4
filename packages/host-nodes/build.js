import { rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });

// Separate files, because one of them starts another in a thread.
await build({
  entryPoints: ['extract-host-nodes.ts', 'extract-in-worker.ts', 'extraction-worker.ts', 'text-files.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
});
