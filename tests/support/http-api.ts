import type { IncomingHttpHeaders } from 'node:http';
import { beforeEach } from '@jest/globals';
import { fileOf, loadContracts } from '../../infra/operations.ts';
import { startGateway } from '../../tools/local/gateway.ts';
import { relay, startReverseProxy } from '../../tools/local/reverse-proxy.ts';
import { untilEnd } from './serve.ts';

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
 * For a file's top level: the functions over real HTTP behind the local stack's gateway, reset before each test. The next
 * requests may be made to fail.
 */
export async function startHttpApi(): Promise<HttpApi> {
  const routes = (await loadContracts()).map(({ name, method, path }) => ({
    key: `${method} ${path}`,
    timeoutMs: 29_000,
    load: async () => (await import(`../../functions/${fileOf(name)}.ts`)).handler,
  }));
  const gateway = untilEnd(await startGateway({ port: 0, routes }));
  const received: HttpApi['received'] = [];
  const disturbances: Disturbance[] = [];
  const front = await startReverseProxy(gateway.url, async (request, response, { body, send }) => {
    const route = `${request.method} ${request.url}`;
    received.push({ route, headers: request.headers, body: body.toString() });
    const disturbance = disturbances.shift();
    if (disturbance === 'stay silent') return;
    if (disturbance === 'hang up') return void request.socket.destroy();
    if (typeof disturbance === 'object') {
      const { status, headers, body: content, isForeign = false } = disturbance;
      const isOwn = Object(content).error !== undefined && !isForeign;
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(isOwn && { 'x-request-id': 'disturbed' }),
        ...headers,
      });
      return void response.end(JSON.stringify(content ?? {}));
    }
    const answer = await send();
    if (disturbance === 'lose the answer') return void request.socket.destroy();
    relay(answer, response);
  });
  const reset = () => {
    received.length = 0;
    disturbances.length = 0;
  };
  beforeEach(reset);
  return { ...untilEnd(front), received, disturb: (...next) => disturbances.push(...next), reset };
}
