import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type HttpFunction, type Route, startGateway } from '../../tools/local/gateway.ts';
import { createSigningKey, issueToken } from '../../tools/local/issuer.ts';
import { createRequestLog, type RequestLog } from '../../tools/local/request-log.ts';
import { untilEnd } from '../support/serve.ts';

const signingKey = createSigningKey();
const bearer = (user: string) => ({ authorization: `Bearer ${issueToken(signingKey, { user })}` });

/** What each route's function does next, and the events that reached the functions. */
let respond: HttpFunction;
let events: APIGatewayProxyEventV2[];
let log: RequestLog;

const keys = [
  'POST /x',
  'PUT /nodes/{nodeId}/names/{name+}',
  'PUT /nodes/{nodeId}',
  'PUT /nodes/mine',
  '$default',
];
const routes: Route[] = keys.map((key) => ({
  key,
  timeoutMs: 300,
  load: async () => async (event, invocation) => {
    events.push(event);
    return respond(event, invocation);
  },
}));
const cors = {
  allowedOrigins: ['*'],
  allowedMethods: ['POST', 'PUT'],
  allowedHeaders: ['Authorization'],
  exposedResponseHeaders: ['ETag', 'Link'],
  maxAge: 60,
};
const settings = { port: 0, routes, cors };
const gateway = untilEnd(await startGateway({ ...settings, onAnswer: (request) => log.add(request) }));

beforeEach(() => {
  respond = async () => ({ statusCode: 200, body: '{}' });
  events = [];
  log = createRequestLog({ write: () => true });
});

function send(path: string, request: RequestInit = {}): Promise<Response> {
  return fetch(gateway.url + path, { method: 'POST', ...request });
}

/** Sends headers as they are. Resolves with the whole response once the gateway closes the connection. */
function sendRaw(...headers: string[]): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1');
  const ending = ['Connection: close', 'Content-Length: 2', '', '{}'];
  socket.write(['POST /x HTTP/1.1', ...headers, ...ending].join('\r\n'));
  return text(socket);
}

describe('the route of a request', () => {
  test.each([
    ['/nodes/a', 'PUT /nodes/{nodeId}', { nodeId: 'a' }],
    ['/nodes/mine', 'PUT /nodes/mine', undefined],
    ['/nodes/a%252Fb', 'PUT /nodes/{nodeId}', { nodeId: 'a%2Fb' }],
    ['/n%6Fdes/a%20b', 'PUT /nodes/{nodeId}', { nodeId: 'a b' }],
    ['/nodes/a%2Fnames%2Fb', 'PUT /nodes/{nodeId}/names/{name+}', { nodeId: 'a', name: 'b' }],
    ['/nodes/a/names/b//c/', 'PUT /nodes/{nodeId}/names/{name+}', { nodeId: 'a', name: 'b//c/' }],
    ['/nodes/a/names/b%0Ac', 'PUT /nodes/{nodeId}/names/{name+}', { nodeId: 'a', name: 'b\nc' }],
    ['/nodes/a%3Fb', 'PUT /nodes/{nodeId}', { nodeId: 'a' }],
    ['/nodes/a/names/', '$default', undefined],
    ['/nodes', '$default', undefined],
  ])('of %s is %s', async (path, routeKey, pathParameters) => {
    await send(path, { method: 'PUT' });

    expect(events).toMatchObject([{ routeKey }]);
    expect(events[0]?.pathParameters).toEqual(pathParameters);
  });

  test('keeps the "?" at which a name was cut in the raw path, even if nothing follows', async () => {
    await send('/nodes/Is%20it%3F', { method: 'PUT' });
    await send('/nodes/a?b=c&b=d', { method: 'PUT' });

    expect(events).toMatchObject([
      { rawPath: '/nodes/Is it?', rawQueryString: '', pathParameters: { nodeId: 'Is it' } },
      { rawPath: '/nodes/a', rawQueryString: 'b=c&b=d', queryStringParameters: { b: 'd' } },
    ]);
  });

  test.each(['/nodes/%zz', '/nodes/%E7%94'])(
    'answers 400 for %s, whose escapes are malformed',
    async (path) => {
      expect((await send(path)).status).toBe(400);
      expect(events).toEqual([]);
    },
  );
});

describe('the event of a request', () => {
  test('has its text as sent, bytes of other types as base64, and no body if none was sent', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/problem+json', 'text/plain'])
      await send('/x', { headers: { 'content-type': type }, body: '"ü"' });
    await send('/x', { headers: { 'content-type': 'image/png' }, body: new Uint8Array([0xff, 0]) });
    await send('/x');

    const bodies = events.map(({ body, isBase64Encoded }) => [body, isBase64Encoded]);
    expect(bodies.slice(0, 3)).toEqual(Array(3).fill(['"ü"', false]));
    expect(bodies.slice(3)).toEqual([
      ['/wA=', true],
      [undefined, false],
    ]);
    expect(events.at(-1)).not.toHaveProperty('body');
  });

  test('joins headers that occur twice by a comma, in their order', async () => {
    const twice = ['Idempotency-Key: a', 'X-Other: 1', 'idempotency-key: b'];
    await sendRaw('Host: localhost', ...twice);

    expect(events[0]?.headers).toMatchObject({ 'idempotency-key': 'a,b', 'x-other': '1' });
  });

  test('is rejected above 10 MB', async () => {
    expect((await send('/x', { body: 'a'.repeat(10_000_001) })).status).toBe(413);
    expect(events).toEqual([]);
  });
});

describe('the response', () => {
  test.each<[string, HttpFunction]>([
    ['crashes', async () => Promise.reject(new Error('thrown'))],
    ['outlasts its limit', () => new Promise(() => {})],
  ])('is a 500 of the gateway if the function %s', async (_, failing) => {
    respond = failing;
    const response = await send('/x');

    expect([response.status, await response.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
    expect(log.latest()[0]).toMatchObject({ status: 500, error: expect.stringContaining('Internal') });
  });

  test('rejects a foreign host, and leaves origins to the CORS rules of the API', async () => {
    expect(await sendRaw('Host: registry.example.com')).toMatch(/^HTTP\/1\.1 421 /);
    expect(await sendRaw('Host: localhost', 'Origin: https://example.com')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('has the CORS headers of the API for a page of an allowed origin only', async () => {
    const strict = untilEnd(
      await startGateway({ ...settings, cors: { ...cors, allowedOrigins: ['https://a.example'] } }),
    );
    const ask = async (url: string, origin: string, method: string) => {
      const headers = { origin, ...(method === 'OPTIONS' && { 'access-control-request-method': 'PUT' }) };
      const response = await fetch(`${url}/x`, { method, headers });
      const shown = [...response.headers].filter(([name]) => name.startsWith('access-control-'));
      return [response.status, Object.fromEntries(shown)];
    };
    const exposed = { 'access-control-expose-headers': 'etag,link' };
    const preflight = {
      'access-control-allow-methods': 'POST,PUT',
      'access-control-allow-headers': 'authorization',
      'access-control-max-age': '60',
    };

    const any = { 'access-control-allow-origin': '*', ...exposed };
    expect(await ask(gateway.url, 'https://b.example', 'POST')).toEqual([200, any]);
    expect(await ask(gateway.url, 'https://b.example', 'OPTIONS')).toEqual([204, { ...any, ...preflight }]);
    const one = { 'access-control-allow-origin': 'https://a.example', ...exposed };
    expect(await ask(strict.url, 'https://a.example', 'OPTIONS')).toEqual([204, { ...one, ...preflight }]);
    expect(await ask(strict.url, 'https://b.example', 'OPTIONS')).toEqual([204, {}]);
    expect(await ask(strict.url, 'https://b.example', 'POST')).toEqual([200, {}]);
  });
});

describe('the log of requests', () => {
  test('has no preflight, requests by their path and id, and the response to one that failed, whose token was not rejected', async () => {
    const body = `{"error":"invalid_request","message":"${'a'.repeat(3000)}"}`;
    respond = async () => ({ statusCode: 400, headers: { 'x-request-id': 'mine-1' }, body });
    const response = await send('/nodes/a%2Fb', { headers: bearer('olga'), body: 'sent' });
    respond = async () => ({ statusCode: 401 });
    await send('/x', { headers: bearer('olga') });
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'PUT' };
    await send('/x', { method: 'OPTIONS', headers });

    expect(await response.text()).toBe(body);
    expect(log.latest()).toEqual([
      expect.objectContaining({ caller: 'unknown' }),
      {
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        id: 'mine-1',
        method: 'POST',
        path: '/nodes/a%2Fb',
        caller: 'olga',
        status: 400,
        ms: expect.any(Number),
        body: 'sent',
        error: body.slice(0, 2000),
        lines: [],
      },
    ]);
  });
});
