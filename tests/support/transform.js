import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { transformSync } from 'esbuild';

const ownText = readFileSync(import.meta.filename, 'utf8');
const isFunction = /\/functions\/[\w-]+\.ts$/;
/** In the list of exports that esbuild puts at the end. */
const exported = /^ {2}handler(?=,?$)/m;

/** Jest's TypeScript: types are stripped by the same esbuild that bundles the functions. */
export default {
  // Jest's own key would keep what an earlier state of this file has made.
  getCacheKey: (source, path) => hash('sha256', [ownText, path, source].join('\n')),
  process: (source, path) => {
    const result = transformSync(source, {
      loader: 'ts',
      format: 'esm',
      target: 'node24',
      sourcemap: 'inline',
      sourcefile: path,
      define: path.endsWith('extract-in-worker.ts')
        ? { 'import.meta.url': 'process.env.EXTRACTION_BUNDLE' }
        : {},
    });
    if (!isFunction.test(path) || !exported.test(result.code)) return result;
    return { ...result, code: inItsRole(result.code, basename(path, '.ts')) };
  },
};

/** As Lambda does, the tests run a function with its own role. */
function inItsRole(code, name) {
  return `${code.replace(exported, '  inRole as handler')}
import { asFunction } from ${JSON.stringify(`${import.meta.dirname}/roles.ts`)};
const inRole = (...values) => asFunction('${name}', () => handler(...values));`;
}
