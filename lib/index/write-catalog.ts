import { hash } from 'node:crypto';
import {
  catalogFolder,
  catalogPath,
  pageRoot,
  publisherPagePath,
  publisherPages,
  publishersPath,
  searchPages,
  searchPiecePath,
  topPath,
} from '@node-registry/registry-rules/index-paths';
import { foldNodeId } from '@node-registry/registry-rules/names';
import type {
  CatalogEntry,
  PublisherProfile,
  TopNodes,
} from '@node-registry/registry-rules/schemas/index-files';
import { byUse, feed, homePage, nodesPage, publisherPage, robots, sitemap } from '@node-registry/site/lists';
import type { Site } from '@node-registry/site/layout';
import { searchPiecesOf } from '@node-registry/site/search-pieces';
import { listObjects } from '../bucket/bucket.ts';
import { json, maxFilesAtOnce, readFile, readText, writeIfMatches } from '../bucket/public-file.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { log, withLogFields } from '../log.ts';
import { configFile, pieceFile } from './catalog-files.ts';
import { publishersFile } from './publisher-files.ts';
import { currentSite } from './site.ts';

/*
 * The files that rank nodes or span them: the most used, the pages of publishers, the feed and the sitemap. A
 * schedule makes them from the catalog once a piece of it has changed, so publishes don't pay for them. What a run leaves,
 * the next one finds changed again.
 */

const topFile = json<TopNodes>(topPath, 'nodes');
const cacheControl = 'public, max-age=30';
/** Each adds 200 bytes to opening the search. */
const minTop = 100;
const maxTop = 1000;
const maxOnPage = 250;

export async function writeCatalog(_: unknown, invocation: EventInvocation): Promise<void> {
  const fields = { function: 'writeCatalog', function_request_id: invocation.awsRequestId };
  await withLogFields(fields, async () => {
    const { written = 0, ...found } = (await refreshLists(contextOf(invocation))) ?? {};
    log('info', 'sweep', { sweep: 'catalog', ...found, sweep_findings: written });
  });
}

interface Written {
  nodes: number;
  written: number;
  /** Files that another run has written meanwhile. */
  lost?: number;
}

/** Undefined if no piece has changed since the last time. */
async function refreshLists(context: Context): Promise<Written | undefined> {
  const config = await readFile(context, configFile);
  if (!config) return undefined;
  const { catalog_pieces: pieces } = config;
  const folder = catalogPath(pieces, 0).replace(/0\.json$/, '');
  const etags = [...(await listObjects(context, catalogFolder))].filter(
    ([key]) => key.startsWith(folder) || key === publishersPath,
  );
  const site = currentSite();
  const source = hash('sha256', JSON.stringify([site, format, ...etags.sort()])).slice(0, 16);
  const top = await readText(context, topPath);
  if (top && topFile.read(top.text)?.content.source === source) return undefined;

  // Before the catalog is read: a run that has read a later one writes after this, and then its files stay.
  const listed = await listObjects(context, pageRoot, [
    'feed.xml',
    'home.html',
    'nodes.html',
    'publishers/',
    'robots.txt',
    'search/',
    'sitemap.xml',
  ]);
  const entries: CatalogEntry[] = [];
  await inParallel(Array(pieces).keys(), maxFilesAtOnce, async (piece) => {
    const { nodes = [] } = (await readFile(context, pieceFile(catalogPath(pieces, piece)))) ?? {};
    entries.push(...nodes);
  });
  entries.sort(byUse);
  const { publishers = [] } = (await readFile(context, publishersFile)) ?? {};
  const files = [...pagesOf(site, entries, publishers, [...listed.keys()])];
  let [written, lost] = [0, 0];
  await inParallel(files.values(), maxFilesAtOnce, async ({ key, text, contentType }) => {
    const etag = listed.get(key);
    if (etag === `"${hash('md5', text)}"`) return;
    if (await writeIfMatches(context, { key, text, contentType, cacheControl, etag })) written += 1;
    else lost += 1;
  });
  // Another run was faster for some of them, and may have read an earlier catalog: the next run checks again.
  if (lost > 0) return { nodes: entries.length, written, lost };
  const text = JSON.stringify({ source, nodes: topOf(entries) });
  await writeIfMatches(context, { key: topPath, text, cacheControl, etag: top?.etag });
  return { nodes: entries.length, written: written + 1 };
}

/** Raised with the templates, so that a release writes its pages again. */
const format = 5;

function topOf(entries: readonly CatalogEntry[]): CatalogEntry[] {
  const ranked = entries.filter(({ search_ranking }) => search_ranking !== undefined).length;
  const count = Math.min(Math.max(minTop, ranked), maxTop);
  return entries.slice(0, count).map(({ host_node_words, ...entry }) => entry);
}

interface File {
  key: string;
  text: string;
  contentType: string;
}

function* pagesOf(
  site: Site,
  entries: readonly CatalogEntry[],
  publishers: readonly PublisherProfile[],
  listed: readonly string[],
): Generator<File> {
  const profiles = new Map(publishers.map((profile) => [foldNodeId(profile.id), profile]));
  const page = (key: string, text: string) => ({ key, text, contentType: 'text/html; charset=utf-8' });
  const byPublisher = Map.groupBy(entries, ({ publisher }) => foldNodeId(publisher.id));
  for (const [id, own] of byPublisher) {
    const publisher = { ...own[0]?.publisher, ...profiles.get(id) };
    yield page(publisherPagePath(id), publisherPage(site, { id, ...publisher }, own));
  }
  for (const key of listed) {
    const id = key.startsWith(publisherPages) && key.slice(publisherPages.length, -'.html'.length);
    if (id && !byPublisher.has(id)) yield page(key, publisherPage(site, { id }, []));
  }
  yield* piecesOf(entries, listed);
  yield page(`${pageRoot}home.html`, homePage(site, entries));
  yield page(`${pageRoot}nodes.html`, nodesPage(site, entries.slice(0, maxOnPage)));
  const { url, name } = site;
  if (url === undefined) return;
  const file = (name: string, contentType: string, text: string) => ({
    key: pageRoot + name,
    text,
    contentType,
  });
  yield file('feed.xml', 'application/atom+xml; charset=utf-8', feed(url, name, entries));
  yield file('sitemap.xml', 'application/xml; charset=utf-8', sitemap(url, entries));
  yield file('robots.txt', 'text/plain; charset=utf-8', robots(url));
}

/** A piece that no longer has words is emptied. */
function* piecesOf(entries: readonly CatalogEntry[], listed: readonly string[]): Generator<File> {
  const pieces = new Map<string, object>(
    listed.filter((key) => key.startsWith(searchPages)).map((key) => [key, { nodes: [], words: {} }]),
  );
  for (const [piece, content] of searchPiecesOf(entries)) pieces.set(searchPiecePath(piece), content);
  for (const [key, content] of pieces)
    yield { key, text: JSON.stringify(content), contentType: 'application/json' };
}
