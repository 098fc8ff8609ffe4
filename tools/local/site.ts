import type { IncomingMessage, ServerResponse } from 'node:http';
import { type BuiltFile, buildSite, unknownPath } from '@node-registry/site/build';
import { leadAddress } from '@node-registry/site/lead-address';
import { currentSite } from '../../lib/index/site.ts';
import type { HttpServer } from '../processes/http-server.ts';
import { bucketName } from './addresses.ts';
import { isOwnPage, startLocalServer } from './local-only.ts';

/**
 * Serves the registry's pages and its public index, as the site's distribution does in front of the bucket. It
 * has an origin of its own, because it serves what publishers wrote.
 */
export async function startSite(port: number, s3Url: string): Promise<HttpServer> {
  const built = new Map((await buildSite(currentSite())).map((file) => [file.path, file]));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return void response.writeHead(405).end();
    const [pathname = '/', query] = String(request.url).split('?');
    const led = leadAddress(pathname, query);
    if (led.location !== undefined) return void response.writeHead(301, { location: led.location }).end();
    const own = built.get(decodeURIComponent(led.path.slice(1)));
    const found =
      own && !own.isFirst ? own : ((await readStored(s3Url, led.path)) ?? own ?? built.get(unknownPath));
    // After a start the page may be another one.
    const headers = { 'content-type': found?.type, 'cache-control': 'no-cache' };
    response.writeHead(found?.path === unknownPath ? 404 : 200, headers);
    response.end(request.method === 'HEAD' ? undefined : found?.content);
  };
  const serve = (request: IncomingMessage, response: ServerResponse) =>
    answer(request, response).catch(() => response.writeHead(500).end());
  return startLocalServer(port, serve, isOwnPage);
}

async function readStored(s3Url: string, path: string): Promise<Omit<BuiltFile, 'cacheControl'> | undefined> {
  const stored = await fetch(`${s3Url}/${bucketName}${path}`);
  if (!stored.ok) return undefined;
  const type = stored.headers.get('content-type') ?? 'application/json';
  return { path, type, content: new Uint8Array(await stored.arrayBuffer()) };
}
