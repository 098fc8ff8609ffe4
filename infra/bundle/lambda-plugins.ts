import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { resolve } from 'node:path';
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
        import { environmentCredentials } from './lib/aws/credentials.ts';
        export const defaultProvider = () => environmentCredentials;`,
      resolveDir: process.cwd(),
    }));
  },
};

/** Parts of libraries that they import themselves and a function never uses. */
const unusedParts: [file: RegExp, instead: string][] = [
  // A function is configured by its environment, and looking for ~/.aws takes 8 ms.
  [
    /[\\/]shared-ini-file-loader[\\/]readFile\.js$/,
    `
      export const filePromises = {};
      export const fileIntercept = {};
      export const readFile = async () => '';`,
  ],
  // The region gives DynamoDB's endpoint; discovering others is off by default.
  [/[\\/]@aws-sdk[\\/]endpoint-cache[\\/].+\.js$/, 'export class EndpointCache {}'],
  // Key sets are fetched by our own client; see lib/auth/key-sets.ts.
  [
    /[\\/]aws-jwt-verify[\\/]dist[\\/]esm[\\/]https\.js$/,
    'export class SimpleFetcher {} export function fetch() {}',
  ],
  [/[\\/]aws-jwt-verify[\\/]dist[\\/]esm[\\/]https-node\.js$/, 'export function fetch() {}'],
  // For a body that is a file, it loads Node's streams of files.
  [
    /[\\/]util-body-length[\\/]calculateBodyLength\.js$/,
    `
      export function calculateBodyLength(body) {
        if (body === undefined || body === null) return 0;
        if (typeof body === 'string') return Buffer.byteLength(body);
        if (typeof body.byteLength === 'number') return body.byteLength;
        throw new Error('The length of this body is not known.');
      }`,
  ],
  // It looks for the browser's crypto first, which is another part of Node's.
  [
    /[\\/]serde[\\/]uuid[\\/]v4\.js$/,
    `
      import { randomUUID } from 'node:crypto';
      export const bindV4 = () => () => randomUUID();`,
  ],
  // For a Node without crypto.
  [/[\\/]sha256[\\/]Sha256Js\.js$/, 'export class Sha256Js {}'],
  // For buckets of several regions at once, with a signature that takes a package of its own.
  [
    /[\\/]SignatureV4MultiRegion\.js$/,
    `
      import { SignatureV4SignWithCredentials } from './SignatureV4SignWithCredentials';
      export class SignatureV4MultiRegion extends SignatureV4SignWithCredentials {
        static sigv4aDependency() { return 'none'; }
      }`,
  ],
];

const partsInUse: Plugin = {
  name: 'parts-in-use',
  setup({ onLoad }) {
    for (const [filter, contents] of unusedParts) onLoad({ filter }, () => ({ contents }));
    // Tokens are verified without blocking, so the other way is not needed, nor what only it calls.
    onLoad({ filter: /[\\/]aws-jwt-verify[\\/]dist[\\/]esm[\\/]jwt-verifier\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(
        /^ {4}(?:verifySync|verifyDecomposedJwtSync)\([\s\S]*?^ {4}\}\n/gm,
        '',
      ),
    }));
    // The SDK reads only the version from a package's manifest, and sends it to AWS.
    onLoad({ filter: /[\\/]@aws-sdk[\\/][\w-]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/**
 * Keeps only the operations of a client that are called. The SDK writes keys of objects as `[_h]`, where `_h` is a
 * constant text. esbuild keeps every object with such a key, because computing the key may have side effects.
 */
const operations: Plugin = {
  name: 'operations',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]schemas[\\/]schemas_\d+\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const texts = new Map(
        [...source.matchAll(/^const (_\w+) = (".+");$/gm)].map(([, name, text]) => [name, text]),
      );
      return { contents: source.replace(/\[(_\w+)\]:/g, (_, name) => `${texts.get(name) ?? `[${name}]`}:`) };
    });
  },
};

/**
 * Removes the descriptions of schemas and contracts, which only the OpenAPI document and docs/reference.md need. A call
 * for a schema also costs a second copy of it. One that does not match the pattern stays, without harm.
 */
const descriptions: Plugin = {
  name: 'descriptions',
  setup({ onLoad }) {
    const call = /\s*\.with\(\s*z\.(?:describe|meta)\((?:'(?:[^'\\]|\\.)*'|[^()'])*\),?\s*\)/g;
    const field = /^ {2}(?:summary|description):(\s*)'(?:[^'\\]|\\.)*',/gm;
    onLoad(
      { filter: /[\\/]lib[\\/](?:concerns|schemas[\\/].+|contracts[\\/].+)\.ts$/ },
      async ({ path }) => ({
        contents: (await readFile(path, 'utf8')).replace(call, keepLines).replace(field, '$1'),
        loader: 'ts',
      }),
    );
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

/**
 * A function starts with one file. esbuild would put what the function shares with each set of its parts (what it loads
 * by `import()`) into a file of its own; a part that imports the function shares all of it.
 */
export const oneFirstFile = (entry: string): Plugin => ({
  name: 'one-first-file',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import' && !resolveDir.includes('node_modules')
        ? { path: resolve(resolveDir, path), pluginData: { isPart: true } }
        : undefined,
    );
    onLoad({ filter: /[\\/]lib[\\/].+\.ts$/ }, async ({ path, pluginData }) => {
      if (!pluginData?.isPart) return;
      const source = await readFile(path, 'utf8');
      return { contents: `${source}\nimport ${JSON.stringify(resolve(entry))};\n`, loader: 'ts' };
    });
  },
});

/**
 * The parser without what nobody asks it for: comments, what an expression is used for, and where in a statement it
 * expected something. Its names of tokens are written where they are used, since esbuild would keep a table of them;
 * its members, which nothing names by a text, get short names. A test compares what it reads then.
 */
const parser: Plugin = {
  name: 'parser',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]py-ast[\\/]dist[\\/]index\.esm\.js$/ }, async ({ path }) => {
      const source = (await readFile(path, 'utf8'))
        .replace(/\bTokenType\.(\w+)/g, '"$1"')
        .replace(/^ {2}(?:collect(?:AllComments|From\w+)|setContext|create\w+)\([\s\S]*?^ {2}\}\n/gm, '')
        .replace(/^ +(?:ctx: .*,|this\.setContext\(.*\);)\n/gm, '')
        .replace(/("Expected [^"]*?) (?:after|at|before|for|in) [^"]*"/g, '$1"')
        .replace(/this\.includeComments = .*/, '')
        .replaceAll('this.includeComments', 'false');
      const members = source.matchAll(/(?:^ {2}(?:static )?([a-z]+[A-Z]\w*)\(|this\.([a-z]+[A-Z]\w*) = )/gm);
      const names = [...new Set([...members].map(([, method, field]) => method ?? field))];
      const contents = source.replace(/(?<=\.|^ {2}|^ {2}static )[a-z]+[A-Z]\w*/gm, (name) =>
        names.includes(name) ? `_${names.indexOf(name).toString(36)}` : name,
      );
      return { contents };
    });
  },
};

/** The line breaks of a text that is removed, so that stack traces still name the lines of the sources. */
function keepLines(text: string): string {
  return text.replaceAll(/./g, '');
}

export const lambdaPlugins = [partsInUse, operations, descriptions, parser, fewFiles, builtins, credentials];

/** The SDK checks whether a body is one of these. No body here is, and the check alone loads web streams. */
export const absentGlobals = { ReadableStream: 'undefined', Blob: 'undefined' };
