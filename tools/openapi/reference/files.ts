import { readFile } from 'node:fs/promises';
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
  const source = (name: string) => new URL(name, import.meta.url);
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(source('form.ts'))],
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
  });
  const [script] = outputFiles;
  return {
    [referencePath]: {
      type: 'text/html; charset=utf-8',
      content: renderReferencePage(JSON.parse(document), { ...reference, files }),
    },
    [referencePath + files.document]: { type: 'application/json', content: document },
    [referencePath + files.style]: {
      type: 'text/css; charset=utf-8',
      content: await readFile(source('page.css')),
    },
    [referencePath + files.script]: {
      type: 'text/javascript; charset=utf-8',
      content: script?.contents ?? '',
    },
  };
}
