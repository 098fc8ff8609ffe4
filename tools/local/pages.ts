import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { referencePage } from '../openapi/reference-page.ts';
import { buildSite, unknownPath } from '@node-registry/site/build';
import { leadAddress } from './page-addresses.ts';
import { type HttpServer, startHttpServer } from '../processes/http-server.ts';
import { bucketName } from './addresses.ts';
import { demoArchive } from './demo-archive.ts';
import { renderHome } from './home.ts';
import { isOwnPage, localOnly } from './local-only.ts';
import { notificationPublicKey } from './public-key.ts';
import type { RequestLog } from './request-log.ts';

interface Pages {
  port: number;
  apiUrl: string;
  s3Url: string;
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
const homeLinks = { Registry: '/search', 'API reference': referencePath, 'openapi.json': documentPath };
const siteLinks = { 'Local stack': '/', 'API reference': referencePath };
const referenceLinks = { 'Local stack': '/', 'openapi.json': documentPath };

/** Serves the home page and the API reference to developers on the local stack. */
export async function startPages(pages: Pages): Promise<HttpServer> {
  const routes = await routesOf(pages);
  const serve = localOnly((request, response) => {
    answer(routes, request, response).catch(() => response.writeHead(500).end());
  }, isOwnPage);
  return startHttpServer(serve, pages.port);
}

type Routes = Record<string, (url: URL) => Promise<Page>>;

async function routesOf({ apiUrl, s3Url, tokens, requests }: Pages): Promise<Routes> {
  const [accessToken = ''] = Object.values(tokens);
  const document = await readFile('docs/openapi.json', 'utf8');
  const reference = referencePage(JSON.parse(document), { apiUrl, accessToken, links: referenceLinks });
  const site = await buildSite(undefined, siteLinks);
  const unknown = site.find(({ path }) => path === unknownPath)?.content ?? '';
  const home = () =>
    renderHome({ links: homeLinks, tokens, publicKey: notificationPublicKey(), requests: requests.latest() });
  return {
    ...Object.fromEntries(site.map((file) => [`GET /${file.path}`, async () => file])),
    [`GET ${referencePath}`]: async () => ({ type: types.html, content: reference }),
    [`GET ${documentPath}`]: async () => ({ type: types.json, content: document }),
    'GET /': async () => ({ type: types.html, content: home() }),
    'GET /index/*': ({ pathname }) => readStored(s3Url, pathname),
    'GET /pages/*': async ({ pathname }) => {
      const page = await readStored(s3Url, pathname);
      return page.status === 404 ? { ...page, type: types.html, content: unknown } : page;
    },
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
  // The root is the stack's own page.
  if (!(`GET ${url.pathname}` in routes)) url.pathname = leadAddress(url.pathname);
  const [, folder] = url.pathname.split('/');
  const route = routes[`${method} ${url.pathname}`] ?? routes[`${method} /${folder}/*`];
  if (!route) return void response.writeHead(404).end();
  const { status = 200, type, content } = await route(url);
  // After a start the page may be another one.
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache' });
  response.end(request.method === 'HEAD' ? undefined : content);
}

/** The public index and the pages are on the site's host, as behind its distribution. */
async function readStored(s3Url: string, path: string): Promise<Page> {
  const stored = await fetch(`${s3Url}/${bucketName}${path}`);
  const content = new Uint8Array(stored.ok ? await stored.arrayBuffer() : []);
  return { status: stored.status, type: stored.headers.get('content-type') ?? types.json, content };
}

interface Page {
  /** 200 by default. */
  status?: number;
  type: string;
  content: string | Uint8Array;
}
