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
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: moduleOf(path) }));
    onLoad({ filter: /.*/, namespace: 'builtin-required' }, ({ path }) => ({
      contents: `module.exports = ${load(path)};`,
    }));
  },
};

/** Only what is imported is read. Some members are getters that load more of Node: functions among them, when used. */
function moduleOf(path: string): string {
  const members = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(path) ?? {}));
  const isLazy = ({ get }: PropertyDescriptor) =>
    typeof get?.call(process.getBuiltinModule(path)) === 'function';
  return `
    const builtin = ${load(path)};
    const lazy = (name) => new Proxy(function () {}, {
      get: (_, key) => builtin[name][key],
      apply: (_, self, values) => Reflect.apply(builtin[name], self, values),
      construct: (_, values, made) => Reflect.construct(builtin[name], values, made),
    });
    export default builtin;
    ${members
      .filter(([, { enumerable }]) => enumerable)
      .map(
        ([name, member]) =>
          `export const ${name} = /* @__PURE__ */ ${isLazy(member) ? `lazy('${name}')` : `(() => builtin.${name})()`};`,
      )
      .join('\n')}`;
}

function load(builtin: string): string {
  return `/* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(builtin)})`;
}

/**
 * A function has its credentials and its settings in the environment. The SDK also looks for profiles, files, sign-ons
 * and instance metadata: a third of its size, and several milliseconds for files that no function has.
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

/** The SDK imports its event streams on demand. They are 20 KB, and no function has one. */
const neverNeeded: Plugin = {
  name: 'never-needed',
  setup({ onResolve }) {
    onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

export const lambdaPlugins = [environmentOnly, neverNeeded, builtins];

/** The SDK looks for these when it loads or sends. No function uses them, and looking at them loads much of Node. */
export const absentGlobals = { ReadableStream: 'undefined', Blob: 'undefined', crypto: 'undefined' };
