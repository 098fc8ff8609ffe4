import { hash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  catalogPath,
  configPath,
  hostNodesPath,
  nodePath,
  pieceOf,
  readmePath,
} from 'registry-rules/index-paths';
import {
  CatalogEntry,
  CatalogPiece,
  IndexConfig,
  IndexedHostNodes,
  IndexedNode,
  IndexedReadme,
} from 'registry-rules/schemas/index-files';
import { buildSite } from '../build.ts';

/** A node with its file, its line in the catalog, and the host nodes of its versions by their labels. */
export interface Listed {
  node: IndexedNode;
  entry?: CatalogEntry;
  hostNodes?: Record<string, IndexedHostNodes>;
  readme?: IndexedReadme;
}

const built = buildSite().then((files) => new Map(files.map((file) => [file.path, file])));
const pieces = 16;
/** Generated ones are alike. */
const maxChecked = 100;
const updated_at = '2026-11-22T12:00:00.000Z';

/** The files of an index, as `writeIndex` writes them. */
function indexFiles(listed: readonly Listed[]): Map<string, string> {
  const files = new Map([
    [configPath, JSON.stringify(IndexConfig.parse({ version: 1, catalog_pieces: pieces, updated_at }))],
  ]);
  const entries = listed.flatMap(({ entry }) => (entry ? [CatalogEntry.parse(entry)] : []));
  const byPiece = Map.groupBy(entries, ({ id }) => pieceOf(id, pieces));
  for (let piece = 0; piece < pieces; piece += 1) {
    const nodes = byPiece.get(piece) ?? [];
    files.set(catalogPath(pieces, piece), JSON.stringify(CatalogPiece.parse({ nodes })));
  }
  for (const { node } of listed.slice(0, maxChecked)) IndexedNode.parse(node);
  for (const { node, hostNodes = {}, readme } of listed) {
    const id = String(node.id);
    files.set(nodePath(id), JSON.stringify(node));
    if (readme) files.set(readmePath(id), JSON.stringify(IndexedReadme.parse(readme)));
    for (const [label, file] of Object.entries(hostNodes))
      files.set(hostNodesPath(id, label), JSON.stringify(IndexedHostNodes.parse(file)));
  }
  return files;
}

export interface SiteHost {
  url: string;
  /** The files of the index; a test may change them. */
  index: Map<string, string>;
  /** Waits before an answer, or gives another status than 200. */
  disturb: ((path: string) => Promise<number | undefined>) | undefined;
  stop: () => void;
}

/** Serves the built site and an index, as a distribution in front of a bucket does: compressed, and 404 for the rest. */
export async function serveSite(listed: readonly Listed[]): Promise<SiteHost> {
  const pages = await built;
  const server: Server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname.slice(1));
    const page = pages.get(path);
    const content = page?.content ?? host.index.get(path);
    const status = (await host.disturb?.(path)) ?? (content === undefined ? 404 : 200);
    if (content === undefined || status !== 200) return void response.writeHead(status).end();
    response
      .writeHead(200, {
        'content-type': page?.type ?? 'application/json',
        'cache-control': page?.cacheControl ?? 'public, max-age=60',
        'content-encoding': 'gzip',
        etag: `"${hash('sha256', content)}"`,
      })
      .end(gzipSync(content));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host: SiteHost = {
    url: `http://localhost:${(server.address() as AddressInfo).port}/site/index.html`,
    index: indexFiles(listed),
    disturb: undefined,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return host;
}
