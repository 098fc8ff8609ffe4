import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSite, bundlePages, toFile } from '@node-registry/site/build';
import { loadPaidContracts } from '../../infra/operations.ts';
import { pricedTask } from '../../lib/attempts/price.ts';
import { parseObject } from '../../lib/json.ts';
import { referencePage } from '../openapi/reference-page.ts';
import type { HttpServer } from '../processes/http-server.ts';
import { notificationPublicKey } from './addresses.ts';
import { demo } from './demo.ts';
import { demoArchive } from './demo-archive.ts';
import { isOwnPage, startLocalServer } from './local-only.ts';
import type { RequestLog } from './request-log.ts';
import { studioConfig, studioNav, studioPage, tryPage } from './studio-files.ts';

interface Pages {
  port: number;
  apiUrl: string;
  /** Access tokens by their users; the first is the owner's. */
  tokens: Record<string, string>;
  requests: Pick<RequestLog, 'latest' | 'listen'>;
}

const types = {
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  zip: 'application/zip',
};
export const referencePath = '/reference/';
const documentPath = `${referencePath}openapi.json`;
const swaggerFiles = ['swagger-ui-bundle.js', 'swagger-ui.css'];

/**
 * Serves the studio and the API reference to developers on the local stack. Tokens are on this origin, so
 * nothing that a publisher wrote is: site.ts has an origin of its own.
 */
export async function startPages(pages: Pages): Promise<HttpServer> {
  const routes = await routesOf(pages);
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/requests') return follow(pages.requests, request, response);
    answer(routes, request, response).catch(() => response.writeHead(500).end());
  };
  return startLocalServer(pages.port, serve, isOwnPage);
}

type Routes = Record<string, (url: URL, body: string) => Page | Promise<Page>>;

async function routesOf({ apiUrl, tokens }: Pages): Promise<Routes> {
  const [accessToken = ''] = Object.values(tokens);
  const document = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  const reference = referencePage(document, { apiUrl, accessToken, nav: studioNav });
  const sources = ['studio.tsx', 'studio.css', 'try.ts'];
  const [site, studio] = await Promise.all([
    buildSite(),
    bundlePages(new URL('studio/', import.meta.url), sources, 'studio-third-party.txt'),
  ]);
  const swagger = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json');
  const files = [
    ...site.filter(({ path }) => /\.(?:css|png)$/.test(path)),
    ...studio,
    ...(await Promise.all(
      swaggerFiles.map(async (name) =>
        toFile(`site/${name}`, await readFile(join(dirname(swagger), name)), 0),
      ),
    )),
  ];
  const page = studioPage(apiUrl);
  const users = Object.entries(tokens).map(([user, token]) => [`The access token of ${user}`, token]);
  const config = await studioConfig(apiUrl, {
    ...Object.fromEntries(users),
    'The demo publisher’s token': demo.personalAccessToken,
    'The key that signs notifications': notificationPublicKey,
  });
  const json = (content: object): Page => ({ type: types.json, content: JSON.stringify(content) });
  return {
    ...Object.fromEntries(files.map((file) => [`GET /${file.path}`, () => file])),
    [`GET ${referencePath}`]: () => ({ type: types.html, content: reference }),
    [`GET ${documentPath}`]: () => json({ ...document, servers: [{ url: apiUrl }] }),
    'GET /reference/try': () => ({ type: types.html, content: tryPage(apiUrl) }),
    'GET /': () => ({ type: types.html, content: page }),
    'GET /studio.json': () => json(config),
    'POST /ceiling': async ({ searchParams }, body) =>
      json({ credits: await ceilingFor(searchParams.get('operation'), parseObject(body) ?? {}) }),
    'GET /demo.zip': async ({ searchParams }) => ({
      type: types.zip,
      content: demoArchive(searchParams.get('version') ?? ''),
    }),
  };
}

/** The most credits that a request may cost, by the rule that reserves them. */
async function ceilingFor(operation: string | null, body: object): Promise<number | undefined> {
  const contract = (await loadPaidContracts()).find(({ name }) => name === operation);
  return contract && pricedTask(contract.name, contract.price, body).ceiling;
}

async function answer(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(`http://localhost${request.url}`);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (`${url.pathname}/` === referencePath)
    return void response.writeHead(301, { location: referencePath }).end();
  const route = routes[`${method} ${url.pathname}`];
  if (!route) return void response.writeHead(404).end();
  const { type, content } = await route(url, await text(request));
  // After a start the page may be another one.
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
  response.end(request.method === 'HEAD' ? undefined : content);
}

/** Sends the latest requests, again with each new one, as an event stream. */
function follow({ latest, listen }: Pages['requests'], request: IncomingMessage, response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = () => response.write(`data: ${JSON.stringify(latest())}\n\n`);
  send();
  request.on('close', listen(send));
}

interface Page {
  type: string;
  content: string | Uint8Array;
}
