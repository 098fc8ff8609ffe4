import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { renderReferencePage } from './page.ts';

export const referencePath = '/reference/';

const files = { script: 'form.js', style: 'page.css', document: 'openapi.json' };

export interface ReferenceFile {
  type: string;
  content: string | Uint8Array;
}

interface Reference {
  apiUrl: string;
  accessToken: string;
  homeUrl: string;
}

/** The page of the document and what lies next to it, by path. */
export async function buildReference(reference: Reference): Promise<Record<string, ReferenceFile>> {
  const document = await readFile('docs/openapi.json', 'utf8');
  const { outputFiles } = await build({
    entryPoints: ['form.ts', 'page.css'].map((name) => fileURLToPath(new URL(name, import.meta.url))),
    outdir: 'built',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
  });
  const built = (name: string) => outputFiles.find(({ path }) => basename(path) === name)?.contents ?? '';
  return {
    [referencePath]: {
      type: 'text/html; charset=utf-8',
      content: renderReferencePage(JSON.parse(document), { ...reference, files }),
    },
    [referencePath + files.document]: { type: 'application/json', content: document },
    [referencePath + files.style]: {
      type: 'text/css; charset=utf-8',
      content: built(files.style),
    },
    [referencePath + files.script]: {
      type: 'text/javascript; charset=utf-8',
      content: built(files.script),
    },
  };
}
