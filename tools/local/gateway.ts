import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Origin, readAll, relay, startReverseProxy } from './reverse-proxy.ts';

/**
 * Makes serverless-offline as strict as the deployed HTTP API, which decodes the path before it chooses the route:
 * `%2F` then is a slash between two segments, and everything after a `%3F` is lost. It also joins headers that occur
 * twice, and answers 500 for a function that throws.
 */
export function startGateway(port: number, url: string): ReturnType<typeof startReverseProxy> {
  return startReverseProxy(url, pass, port);
}

async function pass(request: IncomingMessage, response: ServerResponse, origin: Origin): Promise<void> {
  const path = decodedOnce(request.url ?? '/');
  if (path === undefined) return answer(response, 400, 'Bad Request');
  const reply = await origin.send(request, { path, headers: { ...joined(request), ...unparsed(request) } });
  // Every answer of ours has this header, so only what is none of ours has to be read here.
  if (request.method === 'OPTIONS' || reply.headers['x-request-id'] !== undefined)
    return relay(reply, response);
  const body = await readAll(reply);
  if (isCrash(body)) return answer(response, 500, 'Internal Server Error');
  response.writeHead(reply.statusCode ?? 502, reply.rawHeaders).end(body);
}

/** serverless-offline answers 200 with the error of a function that threw. */
function isCrash(body: Buffer): boolean {
  return body.subarray(0, crash.length).equals(crash);
}

const crash = Buffer.from('{"errorMessage":');

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
function unparsed({ headersDistinct }: IncomingMessage): Record<string, string[]> {
  const types = headersDistinct['content-type'];
  return types === undefined ? {} : { 'content-type': ['text/plain', types.join(',')] };
}

/** Headers that occur more than once: serverless-offline takes the last one. */
function joined({ headersDistinct }: IncomingMessage): Record<string, string> {
  const repeated = Object.entries(headersDistinct).filter(([, values = []]) => values.length > 1);
  return Object.fromEntries(repeated.map(([name, values = []]) => [name, values.join(',')]));
}

function answer(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
}
