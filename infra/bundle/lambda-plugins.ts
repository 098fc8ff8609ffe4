import { builtinModules } from 'node:module';
import type { Plugin } from 'esbuild';

/*
 * Removes parts of the SDK from bundles for Lambda. Each plugin depends on the SDK's internals, whose version
 * is exact, and names its savings in a cold start of update-node and of publish: CPU time in turns, medians
 * of the ratios of 21 or 31 processes each. Savings below 3 % aren't worth it.
 */

/**
 * `import` of a builtin makes Node build the module's ES interface, whose getters load undici for node:http:
 * 23 and 29 %. `process.getBuiltinModule` returns the module itself.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(?:node:.+|${builtinModules.join('|')})$`);
    onResolve({ filter }, ({ kind, path }) => ({
      path,
      namespace: kind === 'require-call' ? 'builtin-required' : 'builtin',
    }));
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: moduleOf(path) }));
    onLoad({ filter: /.*/, namespace: 'builtin-required' }, ({ path }) => ({
      contents: `module.exports = ${load(path)};`,
    }));
  },
};

/** Few invocations use it, and it takes 2 % of a cold paid request. */
const rarelyUsed = new Set(['node:zlib']);

/** Reads only imported members. Some are getters that load more of Node; for functions, only when used. */
function moduleOf(path: string): string {
  const members = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(path) ?? {}));
  const isLazy = ({ get, value }: PropertyDescriptor) =>
    typeof (get?.call(process.getBuiltinModule(path)) ?? (rarelyUsed.has(path) && value)) === 'function';
  return `
    const lazy = (name) => new Proxy(function () {}, {
      get: (_, key) => ${load(path)}[name][key],
      apply: (_, self, values) => Reflect.apply(${load(path)}[name], self, values),
      construct: (_, values, made) => Reflect.construct(${load(path)}[name], values, made),
    });
    export default ${load(path)};
    ${members
      .filter(([, { enumerable }]) => enumerable)
      .map(
        ([name, member]) =>
          `export const ${name} = /* @__PURE__ */ ${isLazy(member) ? `lazy('${name}')` : `(() => ${load(path)}.${name})()`};`,
      )
      .join('\n')}`;
}

function load(builtin: string): string {
  return `/* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(builtin)})`;
}

/**
 * A function has its credentials and settings in the environment. The SDK also looks for profiles, files,
 * sign-ons and instance metadata: a third of its size, and 16 and 17 %. Looking for files alone takes 4 %.
 */
const environmentOnly: Plugin = {
  name: 'environment-only',
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
    onLoad({ filter: /[\\/]shared-ini-file-loader[\\/]readFile\.js$/ }, () => ({
      contents: `
        export const [filePromises, fileIntercept] = [{}, {}];
        export const readFile = async () => '';`,
    }));
  },
};

/** The SDK imports its event streams on demand. They are 20 KB, no function has one; they take 4 and 5 %. */
const neverNeeded: Plugin = {
  name: 'never-needed',
  setup({ onResolve }) {
    onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

export const lambdaPlugins = [environmentOnly, neverNeeded, builtins];

/** The SDK looks for these while it loads. No function uses them; looking loads much of Node: 6 and 7 %. */
export const absentGlobals = { ReadableStream: 'undefined', Blob: 'undefined' };
