import type { IncomingMessage } from 'node:http';
import { type HttpServer, type Serve, startHttpServer } from '../processes/http-server.ts';

const localNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Keeps the pages of other sites away from a server of this machine. A browser names the site that a request
 * comes from, and a foreign name that points to this machine (DNS rebinding) is in the Host header. Returns
 * the status of a rejection, or undefined.
 */
export function rejectForeign(
  { headers }: IncomingMessage,
  allows: (origin: URL, host: URL) => boolean = () => false,
): 403 | 421 | undefined {
  const host = URL.parse(`http://${headers.host}`);
  if (!host || !localNames.includes(host.hostname)) return 421;
  if (headers.origin === undefined) return undefined;
  const origin = URL.parse(headers.origin);
  return origin && allows(origin, host) ? undefined : 403;
}

/** Serves programs of this machine, and the allowed pages. */
export function startLocalServer(
  port: number,
  serve: Serve,
  allows?: Parameters<typeof rejectForeign>[1],
): Promise<HttpServer> {
  return startHttpServer((request, response) => {
    const foreign = rejectForeign(request, allows);
    return foreign === undefined ? serve(request, response) : response.writeHead(foreign).end();
  }, port);
}

/** A page of this machine, on any port. */
export function isLocalPage(origin: URL): boolean {
  return localNames.includes(origin.hostname);
}

/** A page of the server itself. */
export function isOwnPage(origin: URL, host: URL): boolean {
  return origin.origin === host.origin;
}
