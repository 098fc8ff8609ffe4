import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Origin, relay, startReverseProxy } from './reverse-proxy.ts';

/**
 * Makes serverless-offline as strict as the deployed HTTP API, which decodes the path before it chooses the route.
 * `%2F` then is a slash between two segments, and everything after a `%3F` is lost.
 */
export async function startGateway(port: number, url: string): Promise<{ stop: () => Promise<void> }> {
  return startReverseProxy(url, pass, port);
}

async function pass(request: IncomingMessage, response: ServerResponse, origin: Origin): Promise<void> {
  const path = decodedOnce(request.url ?? '/');
  if (path === undefined) return badRequest(response);
  relay(await origin.send(request, { path, headers: unparsed(request) }), response);
}

/** The same address, escaped so that the next server decodes it once; undefined if it cannot be decoded. */
function decodedOnce(url: string): string | undefined {
  const [encoded = '', ...query] = url.split('?');
  try {
    const [path = ''] = decodeURIComponent(encoded).split('?');
    const segments = path.split('/').map(encodeURIComponent);
    return [keepLastSlash(segments), ...query].join('?');
  } catch {
    return undefined;
  }
}

/** serverless-offline removes a slash at the end, so a slash that ends a name stays escaped. */
function keepLastSlash(segments: readonly string[]): string {
  return segments.join('/').replace(/(?<=.)\/$/, '%2F');
}

/**
 * serverless-offline parses each JSON body, and passes falsy values such as `0` on instead of their text. It looks at
 * the first of two content types to decide that, and the function gets the second.
 */
function unparsed({ headers }: IncomingMessage): Record<string, string[]> {
  const type = headers['content-type'];
  return type === undefined ? {} : { 'content-type': ['text/plain', type] };
}

function badRequest(response: ServerResponse): void {
  response.writeHead(400, { 'content-type': 'application/json' }).end('{"message":"Bad Request"}');
}
