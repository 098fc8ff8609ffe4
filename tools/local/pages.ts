import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { referencePage } from '../openapi/reference-page.ts';
import { buildSite } from '@node-registry/site/build';
import { type HttpServer, startHttpServer } from '../processes/http-server.ts';
import { localAddress, ports } from './addresses.ts';
import { demoArchive } from './demo-archive.ts';
import { renderHome } from './home.ts';
import { isOwnPage, localOnly } from './local-only.ts';
import { notificationPublicKey } from './public-key.ts';
import type { RequestLog } from './request-log.ts';

interface Pages {
  port: number;
  apiUrl: string;
  /** Access tokens by their users; the first is the owner's. */
  tokens: Record<string, string>;
  requests: Pick<RequestLog, 'latest'>;
}

const types = {
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  zip: 'application/zip',
};
export const referencePath = '/reference/';
const documentPath = `${referencePath}openapi.json`;
const homeLinks = {
  Registry: `${localAddress(ports.site)}/`,
  'API reference': referencePath,
  'openapi.json': documentPath,
};
const referenceLinks = { 'Local stack': '/', 'openapi.json': documentPath };

/**
 * Serves the home page and the API reference to developers on the local stack. Tokens are on this origin, so
 * nothing that a publisher wrote is: site.ts has an origin of its own.
 */
export async function startPages(pages: Pages): Promise<HttpServer> {
  const routes = await routesOf(pages);
  const serve = localOnly((request, response) => {
    answer(routes, request, response).catch(() => response.writeHead(500).end());
  }, isOwnPage);
  return startHttpServer(serve, pages.port);
}

type Routes = Record<string, (url: URL) => Promise<Page>>;

async function routesOf({ apiUrl, tokens, requests }: Pages): Promise<Routes> {
  const [accessToken = ''] = Object.values(tokens);
  const document = await readFile('docs/openapi.json', 'utf8');
  const reference = referencePage(JSON.parse(document), { apiUrl, accessToken, links: referenceLinks });
  const ofReference = (await buildSite()).filter(({ path }) => /\.(?:css|png)$/.test(path));
  const home = () =>
    renderHome({ links: homeLinks, tokens, publicKey: notificationPublicKey(), requests: requests.latest() });
  return {
    ...Object.fromEntries(ofReference.map((file) => [`GET /${file.path}`, async () => file])),
    [`GET ${referencePath}`]: async () => ({ type: types.html, content: reference }),
    [`GET ${documentPath}`]: async () => ({ type: types.json, content: document }),
    'GET /': async () => ({ type: types.html, content: home() }),
    'GET /demo.zip': async ({ searchParams }) => ({
      type: types.zip,
      content: await demoArchive(searchParams.get('version') ?? ''),
    }),
  };
}

async function answer(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(`http://localhost${request.url}`);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (`${url.pathname}/` === referencePath)
    return void response.writeHead(301, { location: referencePath }).end();
  const route = routes[`${method} ${url.pathname}`];
  if (!route) return void response.writeHead(404).end();
  const { type, content } = await route(url);
  // After a start the page may be another one.
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
  response.end(request.method === 'HEAD' ? undefined : content);
}

interface Page {
  type: string;
  content: string | Uint8Array;
}
