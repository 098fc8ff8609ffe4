import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A file as a static host serves it. */
export interface BuiltFile {
  /** From the root of the host, without a slash in front. */
  path: string;
  type: string;
  cacheControl: string;
  content: Uint8Array;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** Also the object that a deployed stage serves as its root. */
export const sitePage = 'site/index.html';

/**
 * The site: static files that read the public index of the host that serves them. `links` leads to pages next to it. The
 * names of scripts and styles change with their content, so they are kept forever; an open page still finds the parts that
 * it loads later.
 */
export async function buildSite(links: Record<string, string> = {}): Promise<BuiltFile[]> {
  const source = new URL('pages/index.html', import.meta.url);
  const html = (await readFile(source, 'utf8')).replace('</header>', `${navigation(links)}</header>`);
  const folder = sitePage.slice(0, sitePage.lastIndexOf('/') + 1);
  const named = [...html.matchAll(/ (?:href|src)="([\w-]+\.(?:css|ts))"/g)].map(([, name = '']) => name);
  const { outputFiles, metafile } = await build({
    entryPoints: named.map((name) => fileURLToPath(new URL(name, source))),
    outdir: 'built',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    conditions: ['in-tree', 'module'],
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const builtNames = Object.entries(metafile.outputs).map(
    ([output, { entryPoint = '' }]) => [basename(entryPoint), basename(output)] as const,
  );
  const page = named.reduce((text, name) => {
    const [, built] = builtNames.find(([source]) => source === name) ?? [];
    return text.replace(`="${name}"`, `="/${folder}${built}"`);
  }, html);
  return [
    toFile(sitePage, Buffer.from(page), 'public, max-age=60'),
    ...outputFiles.map(({ path: output, contents }) =>
      toFile(folder + basename(output), contents, 'public, max-age=31536000, immutable'),
    ),
  ];
}

function navigation(links: Record<string, string>): string {
  const anchors = Object.entries(links).map(([name, href]) => `<a href="${href}">${name}</a>`);
  return anchors.length > 0 ? `<nav aria-label="Pages">${anchors.join(' ')}</nav>` : '';
}

function toFile(path: string, content: Uint8Array, cacheControl: string): BuiltFile {
  return { path, type: String(types[extname(path)]), cacheControl, content };
}
