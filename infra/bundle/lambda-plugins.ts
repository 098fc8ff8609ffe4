import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import type { Plugin } from 'esbuild';

/*
 * What a bundle for Lambda leaves out. Each plugin saves time in a cold start; `npm run bench` shows how much.
 */

/**
 * `import` of a builtin makes Node build the module's ES face, whose getters load undici for node:http: 26 to
 * 46 ms of every cold start. `process.getBuiltinModule` returns the module itself.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(?:node:.+|${builtinModules.join('|')})$`);
    onResolve({ filter }, ({ kind, path }) => ({
      path,
      namespace: kind === 'require-call' ? 'builtin-required' : 'builtin',
    }));
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: [
        `const builtin = ${load(path)};`,
        'export default builtin;',
        // Only what is imported is read: some members are getters that load more of Node.
        ...Object.keys(process.getBuiltinModule(path) ?? {}).map(
          (name) => `export const ${name} = /* @__PURE__ */ (() => builtin.${name})();`,
        ),
      ].join('\n'),
    }));
    onLoad({ filter: /.*/, namespace: 'builtin-required' }, ({ path }) => ({
      contents: `module.exports = ${load(path)};`,
    }));
  },
};

function load(builtin: string): string {
  return `/* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(builtin)})`;
}

/** Replaces the SDK's chain of credential sources by the only one that a function has. */
const credentials: Plugin = {
  name: 'credentials',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ path }) => ({
      path,
      namespace: 'credentials',
    }));
    onLoad({ filter: /.*/, namespace: 'credentials' }, () => ({
      contents: `
        import { environmentCredentials } from './lib/aws/signing.ts';
        export const defaultProvider = () => environmentCredentials;`,
      resolveDir: process.cwd(),
    }));
  },
};

/**
 * Every `import()` splits a bundle into more files, and each file takes half a millisecond to load. The SDK imports
 * builtins this way, and code for browsers and event streams, so none of it needs a file.
 */
const fewFiles: Plugin = {
  name: 'few-files',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:bowser|@smithy\/core\/event-streams)$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
    onLoad({ filter: /[\\/]node_modules[\\/]@(?:aws|aws-sdk|smithy)[\\/].*\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(
        /\bimport\((['"]node:\w+['"])\)/g,
        'process.getBuiltinModule($1)',
      ),
    }));
  },
};

export const lambdaPlugins = [fewFiles, builtins, credentials];

/** The SDK checks whether a body is one of these. No body here is, and the check alone loads web streams. */
export const absentGlobals = { ReadableStream: 'undefined', Blob: 'undefined' };
