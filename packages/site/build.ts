import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noticesOf, packagesIn } from '@node-registry/command-line/bundled-packages';
import { build } from 'esbuild';
import { unknownPage } from './templates/layout.ts';
import { searchPage } from './templates/search-page.ts';

/** A file as a static host serves it. */
export interface BuiltFile {
  /** From the root of the host, without a leading slash. */
  path: string;
  type: string;
  cacheControl: string;
  content: Uint8Array;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** Also the object that a deployed stage serves as its root. */
export const sitePage = 'site/index.html';
export const unknownPath = 'site/unknown.html';

/** The worker loads the last script only if the pieces of the index have no result. */
const sources = ['search.ts', 'search-worker.ts', 'page.ts', 'site.css', 'search-catalog.ts'];

/**
 * The files of the site in a release. The pages of nodes are written one by one, so scripts and styles keep
 * their names, and a browser requests them again after an hour. `links` adds links to pages next to the site.
 */
export async function buildSite(siteUrl?: string, links: Record<string, string> = {}): Promise<BuiltFile[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: sources.map((name) => fileURLToPath(new URL(`pages/${name}`, import.meta.url))),
    outdir: 'built',
    write: false,
    bundle: true,
    external: ['./search-catalog.js'],
    minify: true,
    format: 'esm',
    conditions: ['in-tree', 'module'],
    target: 'es2022',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const made = outputFiles.map(({ path, contents }) => {
    const name = basename(path);
    return toFile(`site/${name}`, name === 'site.css' ? Buffer.concat([contents, hues]) : contents, 3600);
  });
  return [
    ...made,
    toFile('site/third-party.txt', Buffer.from(noticesOf(packagesIn(metafile))), 3600),
    toFile(unknownPath, Buffer.from(unknownPage()), 60),
    toFile(sitePage, Buffer.from(searchPage(siteUrl, links)), 60),
  ];
}

/** A style attribute would need a looser policy than a class. */
const hues = Buffer.from(
  Array.from({ length: 24 }, (_, step) => `.hue-${step}{--hue:${step * 15}}`).join(''),
);

function toFile(path: string, content: Uint8Array, seconds: number): BuiltFile {
  return { path, type: String(types[extname(path)]), cacheControl: `public, max-age=${seconds}`, content };
}
