import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  documentFile,
  readViewerScript,
  referencePath,
  renderReferencePage,
  scriptFile,
} from '../openapi/reference-page.ts';
import { isListening, listen } from '../processes/ports.ts';
import type { RequestLog } from './request-log.ts';

interface Pages {
  port: number;
  /** Where the parts of the stack listen, by their names on the home page. */
  parts: Record<string, string> & { 'HTTP API': string; 'Provider simulators': string };
  ownerToken: string;
  requests: Pick<RequestLog, 'latest'>;
}

interface Page {
  type: keyof typeof types;
  content: string | Buffer;
}

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};
const localNames = ['localhost', '127.0.0.1', '[::1]'];
const timeoutMs = 500;

/** Serves the home page and the API reference to people who develop against the local stack. */
export async function startPages(pages: Pages): Promise<{ url: string; stop: () => Promise<void> }> {
  const routes = routesOf(pages);
  const server = createServer((request, response) => {
    answer(routes, request, response).catch(() => response.writeHead(500).end());
  });
  const port = await listen(server, pages.port);
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://localhost:${port}`, stop };
}

type Routes = Record<string, (request: IncomingMessage, url: URL) => Promise<Page | undefined>>;

function routesOf(pages: Pages): Routes {
  const script = readViewerScript();
  const { parts, ownerToken } = pages;
  const reference = renderReferencePage({ apiUrl: parts['HTTP API'], accessToken: ownerToken });
  const readDocument = async () => ({ type: 'json', content: await readFile('docs/openapi.json') }) as const;
  return {
    'GET /': () => readAsset('home.html', 'html'),
    'GET /home.css': () => readAsset('home.css', 'css'),
    'GET /home.js': () => readAsset('home.js', 'js'),
    'GET /openapi.json': readDocument,
    [`GET ${referencePath}`]: async () => ({ type: 'html', content: reference }),
    [`GET ${referencePath}${scriptFile}`]: async () => ({ type: 'js', content: await script }),
    [`GET ${referencePath}${documentFile}`]: readDocument,
    'GET /state': async () => toJson(await stateOf(pages)),
    'POST /callbacks': async () => undefined,
    'POST /simulators/*': async (request, { pathname }) => {
      const command = pathname.slice('/simulators/'.length);
      return toJson(await askSimulators(parts, command, { method: 'POST', body: await text(request) }));
    },
  };
}

async function answer(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`);
  // The pages contain a token, so no foreign name that points to this machine may read them.
  if (!localNames.includes(url.hostname)) return void response.writeHead(421).end();
  if (`${url.pathname}/` === referencePath)
    return void response.writeHead(301, { location: referencePath }).end();
  const folder = url.pathname.slice(0, url.pathname.lastIndexOf('/') + 1);
  const route = routes[`${request.method} ${url.pathname}`] ?? routes[`${request.method} ${folder}*`];
  if (!route) return void response.writeHead(404).end();
  const page = await route(request, url);
  if (page) response.writeHead(200, { 'content-type': types[page.type] }).end(page.content);
  else response.writeHead(204).end();
}

async function readAsset(file: string, type: Page['type']): Promise<Page> {
  return { type, content: await readFile(new URL(`pages/${file}`, import.meta.url)) };
}

function toJson(value: unknown): Page {
  return { type: 'json', content: JSON.stringify(value) };
}

async function stateOf({ parts, ownerToken, requests }: Pages): Promise<object> {
  const [simulators, ...listed] = await Promise.all([
    askSimulators(parts, 'record').catch(() => undefined),
    ...Object.entries(parts).map(async ([name, url]) => ({
      name,
      url,
      isUp: await isListening(url, timeoutMs),
    })),
  ]);
  const apiUrl = parts['HTTP API'];
  return { apiUrl, ownerToken, parts: listed, simulators, requests: requests.latest() };
}

async function askSimulators(
  { 'Provider simulators': simulatorsUrl }: Pages['parts'],
  command: string,
  init: RequestInit = {},
): Promise<unknown> {
  const url = `${simulatorsUrl}/control/${command}`;
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  return answer.json();
}
