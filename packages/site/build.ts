import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noticesOf, packagesIn } from '@node-registry/command-line/bundled-packages';
import { build } from 'esbuild';
import { markPicture } from './brand-pictures.ts';
import { colorStyles } from './colors.ts';
import { plainSite, type Site, unknownPage } from './templates/layout.ts';
import { homePage } from './templates/lists.ts';
import { searchPage } from './templates/search-page.ts';

/** A file as a static host serves it. */
export interface BuiltFile {
  /** From the root of the host, without a leading slash. */
  path: string;
  type: string;
  cacheControl: string;
  content: Uint8Array;
  /** Whether the registry writes it once it has nodes: it must not be replaced then. */
  isFirst?: boolean;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.json': 'application/json',
};

export const sitePage = 'site/index.html';
export const unknownPath = 'site/unknown.html';
/** The start page, until the registry writes its own. */
export const homePath = 'pages/home.html';

/** The worker loads the last script only if the pieces of the index have no result. */
const sources = ['search.ts', 'search-worker.ts', 'page.ts', 'site.css', 'parts.css', 'search-catalog.ts'];

/**
 * The files of the site in a release. The pages of nodes are written one by one, so scripts and styles keep
 * their names, and a browser requests them again after an hour.
 */
export async function buildSite(site: Site = plainSite, accent?: string): Promise<BuiltFile[]> {
  const made = await bundlePages(new URL('pages/', import.meta.url), sources, 'third-party.txt');
  return [
    ...made.map((file) =>
      file.path === 'site/site.css'
        ? { ...file, content: Buffer.concat([Buffer.from(colorStyles(accent)), file.content]) }
        : file,
    ),
    toFile('site/openapi.json', await readFile(new URL('../../docs/openapi.json', import.meta.url)), 3600),
    toFile('site/icon.png', await markPicture('icon', accent), 3600),
    toFile('site/preview.png', await markPicture('preview', accent), 3600),
    toFile(unknownPath, Buffer.from(unknownPage(site)), 60),
    { ...toFile(homePath, Buffer.from(homePage(site, [])), 30), isFirst: true },
    toFile(sitePage, Buffer.from(searchPage(site)), 60),
  ];
}

/** Scripts and styles of pages, with the licenses of the packages in them. */
export async function bundlePages(
  folder: URL,
  names: readonly string[],
  licenses: string,
): Promise<BuiltFile[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: names.map((name) => fileURLToPath(new URL(name, folder))),
    outdir: 'built',
    write: false,
    bundle: true,
    external: ['./search-catalog.js'],
    minify: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    conditions: ['in-tree', 'module'],
    target: 'es2022',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  return [
    ...outputFiles.map(({ path, contents }) => toFile(`site/${basename(path)}`, contents, 3600)),
    toFile(`site/${licenses}`, Buffer.from(noticesOf(packagesIn(metafile))), 3600),
  ];
}

export function toFile(path: string, content: Uint8Array, seconds: number): BuiltFile {
  return { path, type: String(types[extname(path)]), cacheControl: `public, max-age=${seconds}`, content };
}
