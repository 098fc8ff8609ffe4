import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import * as paths from '@node-registry/registry-rules/index-paths';
import { buildSite, unknownPath } from '../build.ts';
import { leadAddress } from '../lead-address.ts';
import { searchPiecesOf } from '../search-pieces.ts';
import { plainSite } from '../templates/layout.ts';
import { byUse, homePage, nodesPage, publisherPage } from '../templates/lists.ts';
import { nodePage } from '../templates/node-page.ts';
import { entriesOf, filesOf, type Listed } from './listed-nodes.ts';

const built = buildSite().then((files) => new Map(files.map((file) => [file.path, file])));
const pieces = 16;
/** The files of an index and its pages, as `writeIndex` and `writeCatalog` write them. */
function indexFiles(listed: readonly Listed[]): Map<string, string> {
  const entries = entriesOf(listed).sort(byUse);
  const files = new Map<string, string>();
  const put = (path: string, content: object) => files.set(path, JSON.stringify(content));
  put(paths.configPath, { version: 1, catalog_pieces: pieces, updated_at: '2026-11-22T12:00:00.000Z' });
  put(paths.topPath, { nodes: entries.slice(0, 100) });
  const byPiece = Map.groupBy(entries, ({ id }) => paths.pieceOf(id, pieces));
  for (let piece = 0; piece < pieces; piece += 1)
    put(paths.catalogPath(pieces, piece), { nodes: byPiece.get(piece) ?? [] });
  for (const [piece, content] of searchPiecesOf(entries)) put(paths.searchPiecePath(piece), content);
  for (const { node } of listed) put(paths.nodePath(String(node.id)), node);
  for (const item of listed.slice(0, 100)) {
    const [id, own] = [String(item.node.id), filesOf(item)];
    files.set(paths.nodePagePath(id), nodePage(plainSite, own));
    for (const { version } of item.node.versions)
      files.set(paths.versionPagePath(id, String(version)), nodePage(plainSite, own, String(version)));
  }
  for (const [id, own] of Map.groupBy(entries, ({ publisher }) => publisher.id))
    if (own[0]) files.set(paths.publisherPagePath(id), publisherPage(plainSite, own[0].publisher, own));
  files.set(`${paths.pageRoot}nodes.html`, nodesPage(plainSite, entries.slice(0, 30)));
  files.set(`${paths.pageRoot}home.html`, homePage(plainSite, entries));
  return files;
}

export type SiteHost = Awaited<ReturnType<typeof serveSite>>;

/** Serves the built site and an index, as the distribution in front of a bucket does: compressed, with a page for the rest. */
export async function serveSite(listed: readonly Listed[]) {
  const [files, index] = [await built, indexFiles(listed)];
  /** What was asked for, with the bytes of each answer. */
  const asked: { path: string; bytes: number }[] = [];
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const led = leadAddress(pathname);
    if (led.location !== undefined) return void response.writeHead(301, { location: led.location }).end();
    const path = decodeURIComponent(led.path.slice(1));
    const found = index.get(path) ?? files.get(path)?.content;
    const content = gzipSync(found ?? files.get(unknownPath)?.content ?? '');
    asked.push({ path, bytes: content.length });
    const type =
      files.get(path)?.type ?? (path.endsWith('.json') ? 'application/json' : 'text/html; charset=utf-8');
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': type, 'content-encoding': 'gzip' });
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://localhost:${(server.address() as AddressInfo).port}`, asked, stop };
}
