import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach } from '@jest/globals';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Contract } from '../../lib/contract.ts';
import { loadContracts } from '../../infra/operations.ts';
import { sampleEvent } from './invoke.ts';
import { serve } from './serve.ts';

/**
 * A failure of a request: an answer instead of the function's, a lost connection, or a lost answer. An answer with an
 * `error` has the header of the service, unless something else gives it.
 */
type Disturbance =
  | { status: number; headers?: Record<string, string>; body?: unknown; isForeign?: boolean }
  | 'hang up'
  | 'stay silent'
  | 'lose the answer';

interface HttpApi {
  url: string;
  received: { route: string; headers: IncomingHttpHeaders; body: string }[];
  disturb: (...disturbances: Disturbance[]) => void;
  /** Forgets the received requests and the planned failures. */
  reset: () => void;
}

/**
 * For a file's top level: the functions over real HTTP, reset before each test. Requests become the gateway's events, and
 * the next ones may be made to fail.
 */
export async function startHttpApi(): Promise<HttpApi> {
  const contracts = await loadContracts();
  const received: HttpApi['received'] = [];
  const disturbances: Disturbance[] = [];
  const server = await serve(async (request, response) => {
    const body = await text(request);
    const found = findRoute(contracts, request);
    received.push({ route: `${request.method} ${request.url}`, headers: request.headers, body });
    const disturbance = disturbances.shift();
    if (disturbance === 'stay silent') return;
    if (disturbance === 'hang up' || !found) return void request.socket.destroy();
    if (typeof disturbance === 'object') {
      const { status, headers, body: content, isForeign = false } = disturbance;
      const isOwn = Object(content).error !== undefined && !isForeign;
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(isOwn && { 'x-request-id': 'disturbed' }),
        ...headers,
      });
      return response.end(JSON.stringify(content ?? {}));
    }
    const answer = await call(found, request.headers, body);
    if (disturbance === 'lose the answer') return void request.socket.destroy();
    const bytes = Buffer.from(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8');
    response.writeHead(answer.statusCode, answer.headers).end(bytes);
  });
  const reset = () => {
    received.length = 0;
    disturbances.length = 0;
  };
  beforeEach(reset);
  return { ...server, received, disturb: (...next) => disturbances.push(...next), reset };
}

interface Route {
  contract: Contract;
  pathParameters: Record<string, string>;
  rawQueryString: string;
}

function findRoute(contracts: readonly Contract[], { method, url = '' }: IncomingMessage): Route | undefined {
  // As the deployed gateway does, before it chooses the route.
  const [encoded = '', ...query] = url.split('?');
  const [path = '', ...cut] = decodeURIComponent(encoded).split('?');
  for (const contract of contracts) {
    const pattern = contract.path
      .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
      .replaceAll(/\{(\w+)\+\}/g, '(?<$1>.+)');
    const match = contract.method === method ? new RegExp(`^${pattern}$`, 's').exec(path) : null;
    if (match)
      return { contract, pathParameters: { ...match.groups }, rawQueryString: [...cut, ...query].join('?') };
  }
  return undefined;
}

async function call({ contract, ...route }: Route, headers: IncomingHttpHeaders, body: string) {
  const name = contract.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const { handler } = await import(`../../functions/${name}.ts`);
  const event = { ...sampleEvent(name), ...route, headers, body };
  const context = { getRemainingTimeInMillis: () => 29_000 };
  return handler(event as APIGatewayProxyEventV2, context as Context);
}
