import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { requestIdOf } from '../../lib/http/gateway-handler.ts';
import { startProcess } from '../processes/start-process.ts';
import { localAddress, ports } from './addresses.ts';
import { gatewayKeyHeader, rejectForeign } from './local-only.ts';
import { type LoggedRequest, loggedRequest, type RequestLog } from './request-log.ts';
import { endToEndHeaders, type Origin, relay, startReverseProxy } from './reverse-proxy.ts';

const gatewayKey = randomUUID();

/**
 * Serves every route of serverless.yml from the built bundles. serverless-offline runs in its own process,
 * behind a gateway that is as strict as the deployed one. It loads each function once: its default, a thread
 * for each concurrent invocation, took 4.4 GB at 64 connections. Once it is up, each line that a function
 * logs goes to `onLine`, and each answered request to `requests`.
 */
export async function startApi(
  onLine: (line: string) => void,
  requests: Pick<RequestLog, 'add'>,
  onEnd: (sentence: string) => void,
): Promise<{ stop: () => Promise<void> }> {
  const flags = `--httpPort ${ports.functions} --lambdaPort ${ports.lambda} --noPrependStageInUrl --useInProcess`;
  const functions = await startProcess({
    name: 'The local HTTP API',
    command: 'serverless',
    args: ['offline', 'start', '--stage', 'local', ...flags.split(' ')],
    env: {
      ...process.env,
      NODE_OPTIONS: `--conditions=in-tree --import=${new URL('refuse-foreign.ts', import.meta.url)}`,
      LOCAL_GATEWAY_KEY: gatewayKey,
      SLS_TELEMETRY_DISABLED: '1',
      SLS_NOTIFICATIONS_MODE: 'off',
    },
    readyText: 'Server ready',
    timeoutMs: 90_000,
    onLine,
    onEnd,
  });
  const gateway = await startGateway(ports.api, localAddress(ports.functions), requests.add);
  const stop = async () => {
    await gateway.stop();
    await functions.stop();
  };
  return { stop };
}

type OnAnswer = (request: LoggedRequest) => void;

/**
 * Makes serverless-offline as strict as the deployed HTTP API, which decodes the path before it chooses the
 * route: `%2F` then is a slash between two segments, and everything after a `%3F` is a query. It also joins
 * repeated headers, and answers 500 for a function that throws. Each answered request goes to `onAnswer`.
 */
export function startGateway(
  port: number,
  url: string,
  onAnswer: OnAnswer = () => {},
): ReturnType<typeof startReverseProxy> {
  return startReverseProxy(url, (...exchange) => pass(onAnswer, ...exchange), port);
}

async function pass(
  onAnswer: OnAnswer,
  request: IncomingMessage,
  response: ServerResponse,
  origin: Origin,
): Promise<void> {
  // The API's CORS rules decide about other origins, as on a deployed stage.
  const foreign = rejectForeign(request, () => true);
  if (foreign !== undefined) return void response.writeHead(foreign).end();
  const path = decodedOnce(request.url ?? '/');
  if (path === undefined) return answer(response, 400, 'Bad Request');
  const started = performance.now();
  const headers = {
    ...joined(request),
    ...unparsed(request),
    'x-request-id': idOf(request),
    [gatewayKeyHeader]: gatewayKey,
  };
  const reply = await origin.send(request, { path, headers });
  if (request.method === 'OPTIONS') return relay(reply, response);
  const { statusCode: status = 502, headers: answered } = reply;
  const log = (ending: { status: number; received: string }) =>
    onAnswer(loggedRequest({ request, id: String(answered['x-request-id'] ?? ''), started, ...ending }));
  // Every response of ours has this header, so only others have to be read here.
  if (answered['x-request-id'] !== undefined) {
    const received = status >= 400 ? beginningOf(reply) : () => '';
    reply.on('close', () => log({ status, received: received() }));
    return relay(reply, response);
  }
  const body = await buffer(reply);
  const isCrashed = isCrash(body);
  log(
    isCrashed
      ? { status: 500, received: '{"message":"Internal Server Error"}' }
      : { status, received: body.toString() },
  );
  if (isCrashed) return answer(response, 500, 'Internal Server Error');
  response.writeHead(status, endToEndHeaders(reply)).end(body);
}

/** A deployed gateway gives every request an id; serverless-offline gives all of them the same one. */
function idOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return requestIdOf(typeof given === 'string' ? { 'x-request-id': given } : {}, randomUUID());
}

const maxKeptBytes = 64 * 1024;

/** The body of a message, up to a limit, while it is also piped to its destination. */
function beginningOf(message: IncomingMessage): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  message.on('data', (chunk: Buffer) => {
    if (bytes < maxKeptBytes) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString();
}

/** serverless-offline answers 200 with the error of a function that threw. */
function isCrash(body: Buffer): boolean {
  return body.subarray(0, crash.length).equals(crash);
}

const crash = Buffer.from('{"errorMessage":');

/** The same URL, escaped so that the next server decodes it once; undefined if it can't be decoded. */
function decodedOnce(url: string): string | undefined {
  const [encoded = '', ...query] = url.split('?');
  try {
    const [path = '', ...cut] = decodeURIComponent(encoded).split('?');
    const segments = path.split('/').map(encodeURIComponent);
    return [keepLastSlash(segments), ...cut.map(encodeURIComponent), ...query].join('?');
  } catch {
    return undefined;
  }
}

/** serverless-offline removes a slash at the end, so a slash that ends a name stays escaped. */
function keepLastSlash(segments: readonly string[]): string {
  return segments.join('/').replace(/(?<=.)\/$/, '%2F');
}

/**
 * serverless-offline parses each JSON body, and passes falsy values such as `0` on instead of their text. The
 * first of two content types decides that, and the function gets the second.
 */
function unparsed({ headersDistinct }: IncomingMessage): Record<string, string[]> {
  const types = headersDistinct['content-type'];
  return types === undefined ? {} : { 'content-type': ['text/plain', types.join(',')] };
}

/** Headers that occur more than once: serverless-offline would use only the last one. */
function joined({ headersDistinct }: IncomingMessage): Record<string, string> {
  const repeated = Object.entries(headersDistinct).filter(([, values = []]) => values.length > 1);
  return Object.fromEntries(repeated.map(([name, values = []]) => [name, values.join(',')]));
}

function answer(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
}
