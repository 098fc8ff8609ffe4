import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import * as z from 'zod/mini';
import { buildReference, referencePath } from '../openapi/reference/files.ts';
import { buildPage, buildSite, sitePage } from '../../packages/site/build.ts';
import { isListening } from '../../packages/command-line/is-listening.ts';
import { type HttpServer, startHttpServer } from '../processes/http-server.ts';
import { bucketName } from './addresses.ts';
import { demoArchive } from './demo-archive.ts';
import { createInbox, type Inbox, localPublicKeys } from './inbox.ts';
import { isOwnPage, localOnly } from './local-only.ts';
import type { RequestLog } from './request-log.ts';

interface Pages {
  port: number;
  /** Where the parts of the stack listen, by their names on the home page. */
  parts: Record<string, string> & { 'HTTP API': string; 'Provider simulators': string };
  /** Access tokens by their users; the first is the owner's. */
  tokens: Record<string, string>;
  requests: Pick<RequestLog, 'latest'>;
  /** Whether this service notifies callers itself. */
  relays: boolean;
}

const types = {
  json: 'application/json',
  zip: 'application/zip',
};
/** For parts that hang. One that is down is noticed at once, and all may be slow on a busy machine. */
const timeoutMs = 10_000;
const homePage = 'home/index.html';
const homeLinks = {
  Registry: `/${sitePage}`,
  'API reference': referencePath,
  'openapi.json': '/openapi.json',
};
const siteLinks = { 'Local stack': '/', 'API reference': referencePath };

/** Serves the home page and the API reference to people who develop against the local stack. */
export async function startPages(pages: Pages): Promise<HttpServer> {
  const routes = await routesOf(pages);
  const serve = localOnly((request, response) => {
    answer(routes, request, response).catch(() => response.writeHead(500).end());
  }, isOwnPage);
  return startHttpServer(serve, pages.port);
}

type Routes = Record<string, (request: IncomingMessage, url: URL) => Promise<Page | undefined>>;

async function routesOf(pages: Pages): Promise<Routes> {
  const inbox = createInbox();
  const { parts, tokens, relays } = pages;
  const [ownerToken = ''] = Object.values(tokens);
  const reference = await buildReference({
    apiUrl: parts['HTTP API'],
    accessToken: ownerToken,
    homeUrl: '/',
  });
  const readDocument = async () => ({ type: types.json, content: await readFile('docs/openapi.json') });
  const home = await buildPage(new URL('pages/home.html', import.meta.url), homePage, homeLinks);
  const site = await buildSite(siteLinks);
  return {
    ...Object.fromEntries([...site, ...home].map((file) => [`GET /${file.path}`, async () => file])),
    ...Object.fromEntries(Object.entries(reference).map(([path, file]) => [`GET ${path}`, async () => file])),
    'GET /': async () => home[0],
    'GET /index/*': (request) => readIndex(parts, request),
    'GET /openapi.json': readDocument,
    'GET /state': async () => toJson(await stateOf(pages, inbox)),
    'GET /demo.zip': async (_, { searchParams }) => ({
      type: types.zip,
      content: await demoArchive(searchParams.get('version') ?? ''),
    }),
    'GET /records': async () => {
      // The functions' own modules read the environment, which is set before they are asked for.
      const { readStoredRecords } = await import('./stored-records.ts');
      return toJson(await readStoredRecords({ relays }));
    },
    'POST /callbacks': async (request) => {
      await inbox.add(request.headers, await text(request));
      return undefined;
    },
    'POST /simulators/*': async (request, { pathname }) => {
      const command = pathname.slice('/simulators/'.length);
      return toJson(await askSimulators(parts, command, { method: 'POST', body: await text(request) }));
    },
  };
}

async function answer(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`);
  if (`${url.pathname}/` === referencePath)
    return void response.writeHead(301, { location: referencePath }).end();
  const [, folder] = url.pathname.split('/');
  const route = routes[`${request.method} ${url.pathname}`] ?? routes[`${request.method} /${folder}/*`];
  if (!route) return void response.writeHead(404).end();
  const page = await route(request, url);
  if (page) await sendPage(request, response, page);
  else response.writeHead(204).end();
}

/** The public index is where the site is, as behind the distribution. */
async function readIndex({ S3 = '' }: Pages['parts'], request: IncomingMessage): Promise<Page> {
  const known = request.headers['if-none-match'];
  const stored = await fetch(`${S3}/${bucketName}${request.url}`, {
    headers: known === undefined ? {} : { 'if-none-match': known },
  });
  const content = new Uint8Array(stored.ok ? await stored.arrayBuffer() : []);
  return { status: stored.status, type: types.json, content, etag: stored.headers.get('etag') ?? undefined };
}

function toJson(value: unknown): Page {
  return { type: types.json, content: JSON.stringify(value) };
}

async function stateOf({ parts, tokens, requests }: Pages, inbox: Inbox): Promise<object> {
  const [simulators, ...listed] = await Promise.all([
    readSimulators(parts).catch(() => undefined),
    ...Object.entries(parts).map(async ([name, url]) => ({
      name,
      url,
      isUp: await isListening(url, timeoutMs),
    })),
  ]);
  const apiUrl = parts['HTTP API'];
  const logs = { requests: requests.latest(), notifications: inbox.latest() };
  const [publicKey] = localPublicKeys();
  return { apiUrl, publicKey, tokens, parts: listed, simulators, ...logs };
}

const shownTasks = 10;

/** The requests that they received are many and large: each task has its prompt only. */
async function readSimulators(parts: Pages['parts']): Promise<object> {
  const record = SimulatorRecord.parse(await askSimulators(parts, 'record'));
  const tasks = record.tasks.slice(-shownTasks).map((task) => {
    const { prompt = '' } = record.received.find(({ taskId }) => taskId === task.id)?.body ?? {};
    return { ...task, prompt };
  });
  return { credits: record.credits, armed: record.armed, tasks };
}

const SimulatorRecord = z.object({
  credits: z.number(),
  armed: z.array(z.unknown()),
  tasks: z.array(z.looseObject({ id: z.string() })),
  received: z.array(
    z.object({ taskId: z.optional(z.string()), body: z.object({ prompt: z.optional(z.unknown()) }) }),
  ),
});

async function askSimulators(
  { 'Provider simulators': simulatorsUrl }: Pages['parts'],
  command: string,
  init: RequestInit = {},
): Promise<unknown> {
  const url = `${simulatorsUrl}/control/${command}`;
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  return answer.json();
}

interface Page {
  /** 200 unless it says otherwise. */
  status?: number;
  type: string;
  content: string | Uint8Array;
  /** Without it a browser asks each time: after a start the page may be another one. */
  cacheControl?: string;
  etag?: string | undefined;
}

const compress = promisify(gzip);
const minBytes = 1000;

/** Large files, such as the viewer of the reference, are compressed once. */
const compressed = new WeakMap<Uint8Array, Promise<Buffer>>();

/** Answers with a page, compressed as a distribution does it. */
async function sendPage(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { status = 200, type, content, cacheControl = 'no-cache', etag }: Page,
): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const takesGzip = /\bgzip\b/.test(String(headers['accept-encoding']));
  const isSmaller = takesGzip && bytes.length >= minBytes && !type.includes('zip');
  const sent = isSmaller ? await compressedOnce(bytes) : bytes;
  response.writeHead(status, {
    ...(type && { 'content-type': type }),
    ...{ 'cache-control': cacheControl, 'content-length': sent.length, vary: 'accept-encoding' },
    ...(etag !== undefined && { etag }),
    ...(isSmaller && { 'content-encoding': 'gzip' }),
  });
  response.end(method === 'HEAD' || status === 304 ? undefined : sent);
}

function compressedOnce(bytes: Uint8Array): Promise<Buffer> {
  const known = compressed.get(bytes) ?? compress(bytes);
  compressed.set(bytes, known);
  return known;
}
