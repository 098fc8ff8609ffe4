import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** How a receiver answers one notification. */
export const wrongAnswers = [500, 404, 429, 'redirect', 'reset', 'halfway'] as const;
export type Answer = (typeof wrongAnswers)[number] | 'hang' | 410;

/** A notification as it arrived. */
export interface Arrival {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Receivers of notifications, one for each path, that first follow their scripts and then return 204. */
export class Receivers {
  arrivals: Arrival[] = [];
  readonly #scripts = new Map<string, Answer[]>();
  readonly #server = createServer(async (request, response) => {
    const path = String(request.url);
    this.arrivals.push({ path, headers: request.headers, body: await text(request) });
    respond(response, this.#scripts.get(path)?.shift());
  });

  async start(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  /** The address of a new receiver. */
  add(path: string, script: readonly Answer[]): string {
    this.#scripts.set(path, [...script]);
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Forgets everything, so that the next history finds only its own notifications. */
  reset(): void {
    this.arrivals = [];
    this.#scripts.clear();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** The target of redirects. No request may reach it. */
export const forbiddenPath = '/elsewhere';

function respond(response: ServerResponse, answer: Answer | undefined): void {
  switch (answer) {
    case undefined:
      response.writeHead(204).end();
      break;
    case 'hang':
      break;
    case 'reset':
      response.socket?.resetAndDestroy();
      break;
    case 'halfway':
      response.writeHead(500, { 'content-length': 1000 }).write('half of it');
      setImmediate(() => response.socket?.destroy());
      break;
    case 'redirect':
      response.writeHead(307, { location: forbiddenPath }).end();
      break;
    default:
      response.writeHead(answer).end();
  }
}
