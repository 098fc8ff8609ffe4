import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { addReferencePage } from '../openapi/reference-page.ts';
import type { RequestLog } from './request-log.ts';

interface Pages {
  port: number;
  /** Where the parts of the stack listen, by the names that people know them by. */
  parts: Record<string, string> & { 'HTTP API': string; 'Provider simulators': string };
  ownerToken: string;
  requests: Pick<RequestLog, 'latest'>;
}

const assets = {
  '/': ['home.html', 'text/html; charset=utf-8'],
  '/home.css': ['home.css', 'text/css; charset=utf-8'],
  '/home.js': ['home.js', 'text/javascript; charset=utf-8'],
} as const;

const localNames = ['localhost', '127.0.0.1', '[::1]'];
const patienceMs = 500;

/** Serves the home page and the API reference to people who develop against the local stack. */
export async function startPages(pages: Pages): Promise<{ url: string; stop: () => Promise<void> }> {
  const document = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  const server = Fastify({ forceCloseConnections: true });
  refuseForeignNames(server);
  for (const [path, [file, type]] of Object.entries(assets)) {
    server.get(path, async (_, reply) =>
      reply.type(type).send(await readFile(new URL(`pages/${file}`, import.meta.url))),
    );
  }
  server.get('/openapi.json', async () => document);
  server.get('/state', () => stateOf(pages));
  server.post('/callbacks', async (_, reply) => reply.code(204).send());
  server.post('/simulators/:command', ({ params, body }) => {
    const { command } = params as { command: string };
    return askSimulators(pages.parts, command, { method: 'POST', body: JSON.stringify(body) });
  });
  await addReferencePage(server, {
    document,
    apiUrl: pages.parts['HTTP API'],
    accessToken: pages.ownerToken,
  });
  const url = await server.listen({ port: pages.port, host: '127.0.0.1' });
  return { url: `http://localhost:${new URL(url).port}`, stop: () => server.close() };
}

/** The pages carry a token, so no foreign name that was pointed at this machine may read them. */
function refuseForeignNames(server: FastifyInstance): void {
  server.addHook('onRequest', async ({ hostname }, reply) => {
    if (!localNames.includes(hostname)) await reply.code(421).send();
  });
}

async function stateOf({ parts, ownerToken, requests }: Pages): Promise<object> {
  const [simulators, ...listed] = await Promise.all([
    askSimulators(parts, 'record').catch(() => undefined),
    ...Object.entries(parts).map(async ([name, url]) => ({ name, url, isUp: await isListening(url) })),
  ]);
  const apiUrl = parts['HTTP API'];
  return { apiUrl, ownerToken, parts: listed, simulators, requests: requests.latest() };
}

async function askSimulators(
  { 'Provider simulators': simulatorsUrl }: Pages['parts'],
  command: string,
  init: RequestInit = {},
): Promise<unknown> {
  const url = `${simulatorsUrl}/control/${encodeURIComponent(command)}`;
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
  return answer.json();
}

function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) || 80, timeout: patienceMs });
    const settle = (isUp: boolean) => () => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once('connect', settle(true)).once('error', settle(false)).once('timeout', settle(false));
  });
}
