import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { type HttpServer, startHttpServer } from '../processes/http-server.ts';
import { slashedRoute } from '../../infra/operations.ts';
import { type Cors, corsHeaders, preflightHeaders } from './cors.ts';
import { type Invocation, invocationOf, loadFunction } from './invocation.ts';
import { rejectForeign } from './local-only.ts';
import { fileOf, type LocalStage, timeoutMsOf } from './local-stage.ts';
import { loggedRequest, type RequestLog } from './request-log.ts';

type Event = APIGatewayProxyEventV2;
type Reply = APIGatewayProxyStructuredResultV2;
export type HttpFunction = (event: Event, invocation: Invocation) => Promise<Reply>;

export interface Route {
  /** Such as `PUT /nodes/{nodeId}`, or `$default`. */
  key: string;
  timeoutMs: number;
  load: () => Promise<HttpFunction>;
}

/** The routes of serverless.yml, with the functions in dist. */
export function routesOf(stage: LocalStage): Route[] {
  return Object.values(stage.functions).flatMap((each) =>
    each.events.flatMap(({ httpApi }) => {
      if (httpApi === undefined) return [];
      const load = () => loadFunction<HttpFunction>(fileOf(each));
      const route = { timeoutMs: timeoutMsOf(stage, each), load };
      if (httpApi === slashedRoute) return [httpApi, `${httpApi}/`].map((key) => ({ key, ...route }));
      return { key: httpApi === '*' ? '$default' : httpApi, ...route };
    }),
  );
}

interface Settings {
  port: number;
  routes: readonly Route[];
  cors?: Cors;
  /** Gets each answered request, except preflights. */
  onAnswer?: RequestLog['add'];
}

/**
 * The HTTP API in front of the functions, with the events and limits of the deployed one: payload format 2.0
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 * Like that one, it decodes the path before it chooses the route, so `%2F` is a slash between two segments, and
 * the name in a path ends at a `%3F`.
 */
export function startGateway({ port, routes, cors, onAnswer = () => {} }: Settings): Promise<HttpServer> {
  const match = matcher(routes);
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    // The API's CORS rules decide about other origins, as on a deployed stage.
    const foreign = rejectForeign(request, () => true);
    if (foreign !== undefined) return void response.writeHead(foreign).end();
    if (cors && isPreflight(request))
      return send(response, { statusCode: 204, headers: preflightHeaders(cors, request) });
    const started = performance.now();
    const body = await buffer(request);
    const reply = await replyTo(match, request, body);
    const { statusCode: status = 200, headers = {}, body: received = '' } = reply;
    const id = String(headers['x-request-id'] ?? '');
    onAnswer(loggedRequest({ request, id, started, status, received, sent: body.toString() }));
    send(response, { ...reply, headers: { ...headers, ...(cors && corsHeaders(cors, request)) } });
  };
  return startHttpServer(serve, port);
}

/** HTTP APIs accept 10 MB: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html */
const maxBodyBytes = 10_000_000;

async function replyTo(match: Matcher, request: IncomingMessage, body: Buffer): Promise<Reply> {
  const [encoded = '', ...query] = (request.url ?? '/').split('?');
  const path = decoded(encoded);
  if (path === undefined) return gatewayReply(400, 'Bad Request');
  if (body.length > maxBodyBytes) return gatewayReply(413, 'Request Entity Too Large');
  const found = match(`${request.method} ${path.split('?')[0]}`);
  if (!found) return gatewayReply(404, 'Not Found');
  const { route, parameters } = found;
  const event = eventOf(request, body, { path, query: query.join('?'), parameters, route });
  return run(route, event);
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** What an HTTP API answers for itself. */
function gatewayReply(statusCode: number, message: string): Reply {
  return { statusCode, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message }) };
}

/** A function that throws or takes too long is a 500, whose cause only the function's log has. */
async function run({ load, timeoutMs }: Route, event: Event): Promise<Reply> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('The function timed out.')), timeoutMs);
  try {
    const handler = await load();
    return await Promise.race([handler(event, invocationOf(timeoutMs)), late.promise]);
  } catch (error) {
    process.stderr.write(`${event.routeKey} failed: ${error instanceof Error ? error.stack : error}\n`);
    return gatewayReply(500, 'Internal Server Error');
  } finally {
    clearTimeout(timer);
  }
}

type Parameters = Record<string, string>;
type Matcher = (request: string) => { route: Route; parameters: Parameters } | undefined;

/** Fixed segments win over parameters, and those over a parameter that takes the rest of the path. */
function matcher(routes: readonly Route[]): Matcher {
  const rank = (key: string) => key.replace(/\{[^}]*\+\}/g, '~~').replace(/\{[^}]*\}/g, '~');
  const patterns = routes
    .filter(({ key }) => key !== '$default')
    .sort((a, b) => (rank(a.key) < rank(b.key) ? -1 : 1))
    .map((route) => ({ route, pattern: patternOf(route.key) }));
  const standard = routes.find(({ key }) => key === '$default');
  return (request) => {
    for (const { route, pattern } of patterns) {
      const found = pattern.exec(request);
      if (found) return { route, parameters: { ...found.groups } };
    }
    return standard && { route: standard, parameters: {} };
  };
}

function patternOf(key: string): RegExp {
  const escaped = key.replace(/[.$^*()|[\]\\]/g, '\\$&');
  return new RegExp(
    `^${escaped.replace(/\{(\w+)(\+?)\}/g, (_, name, rest) => `(?<${name}>${rest ? '.+' : '[^/]+'})`)}$`,
    's',
  );
}

interface Found {
  /** Decoded, with what follows a decoded `?`. */
  path: string;
  query: string;
  parameters: Parameters;
  route: Route;
}

function eventOf(request: IncomingMessage, body: Buffer, { path, query, parameters, route }: Found): Event {
  const headers = joinedHeaders(request);
  const queryEntries = [...new URLSearchParams(query)];
  const isText = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript)\b)/i.test(
    headers['content-type'] ?? 'text/plain',
  );
  const now = new Date();
  return {
    version: '2.0',
    routeKey: route.key,
    rawPath: path,
    rawQueryString: query,
    headers,
    ...(queryEntries.length > 0 && { queryStringParameters: Object.fromEntries(queryEntries) }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: {
        method: request.method ?? '',
        path,
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: route.key,
      stage: '$default',
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    ...(Object.keys(parameters).length > 0 && { pathParameters: parameters }),
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

/** Headers that occur twice are joined by a comma. */
function joinedHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(',')]);
  return Object.fromEntries(entries);
}

function send(
  response: ServerResponse,
  { statusCode = 200, headers = {}, body = '', isBase64Encoded }: Reply,
) {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  response.writeHead(statusCode, { ...(headers as Record<string, string>), 'content-length': bytes.length });
  response.end(bytes);
}

/** HTTP APIs answer a preflight themselves: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}
