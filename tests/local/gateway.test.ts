import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { startGateway } from '../../tools/local/gateway.ts';
import { createSigningKey, issueToken } from '../../tools/local/issuer.ts';
import { createRequestLog, type RequestLog } from '../../tools/local/request-log.ts';
import { serve, untilEnd } from '../support/serve.ts';
import { until } from '@node-registry/testing/until';

interface Answer {
  status: number;
  body: string;
  /** As serverless-offline answers for itself. */
  isNotOurs?: boolean;
}

const signingKey = createSigningKey();

let answer: Answer;
let receivedHeaders: object;
let log: RequestLog;
let logged = 0;

/** What stands behind the gateway. Like the functions, it answers with the id that the request came with. */
const functions = await serve(async (request, response) => {
  await text(request);
  receivedHeaders = request.headers;
  const id = String(request.headers['x-request-id']);
  response.writeHead(answer.status, answer.isNotOurs ? {} : { 'x-request-id': id });
  response.end(answer.body);
});

const gateway = untilEnd(
  await startGateway(0, functions.url, (request) => {
    logged += 1;
    log.add(request);
  }),
);

beforeEach(() => {
  log = createRequestLog();
  answer = { status: 200, body: '{}' };
});

async function send(path: string, body: object = {}, headers: Record<string, string> = {}, method = 'POST') {
  const before = logged;
  const response = await fetch(gateway.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method !== 'OPTIONS' && { body: JSON.stringify(body) }),
  });
  const answered = await response.text();
  if (method !== 'OPTIONS') await until(() => logged > before);
  return answered;
}

/** The whole answer to a request whose headers are sent as they are; it ends when the gateway closes the connection. */
function sendRaw(...headers: string[]): Promise<string> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  const ending = ['Connection: close', 'Content-Length: 2', '', '{}'];
  socket.write(['POST /x HTTP/1.1', ...headers, ...ending].join('\r\n'));
  return text(socket);
}

const bearer = (user: string) => ({ authorization: `Bearer ${issueToken(signingKey, { user })}` });

describe('the local gateway', () => {
  test('answers 500 as API Gateway does if a function crashes, as serverless-offline does not', async () => {
    answer = { status: 200, body: '{"errorMessage":"thrown"}', isNotOurs: true };

    expect(await send('/x')).toBe('{"message":"Internal Server Error"}');
    expect(log.latest()[0]).toMatchObject({ status: 500, error: expect.stringContaining('Internal') });
  });

  test('rejects a foreign host, and leaves origins to the CORS rules of the API', async () => {
    expect(await sendRaw('Host: registry.example.com')).toMatch(/^HTTP\/1\.1 421 /);
    expect(await sendRaw('Host: localhost', 'Origin: https://example.com')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('joins headers that occur twice by a comma, in their order', async () => {
    const twice = ['Idempotency-Key: a', 'X-Other: 1', 'idempotency-key: b'];
    const types = ['content-type: text/plain', 'Content-Type: application/json'];
    await sendRaw('Host: localhost', ...twice, ...types);

    // serverless-offline parses no text, and hands the second content type to the function.
    expect(receivedHeaders).toMatchObject({ 'idempotency-key': 'a,b', 'x-other': '1' });
    expect(receivedHeaders).toHaveProperty('content-type', 'text/plain');
  });

  test('closes the connection of a client that asks for it', async () => {
    answer = { ...answer, isNotOurs: true };
    const answered = await sendRaw('Host: localhost');

    expect(answered.match(/^connection: .*$/gim)).toEqual(['Connection: close']);
  });
});

describe('the log of requests', () => {
  test('contains what was asked by its path and id, and the answer to what failed', async () => {
    const body = `{"error":"invalid_request","message":"${'a'.repeat(3000)}"}`;
    answer = { status: 400, body };
    const answered = await send('/nodes/a%2Fb', {}, { 'x-request-id': 'mine-1', ...bearer('olga') });

    expect(answered).toBe(body);
    expect(log.latest()).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        ...{ id: 'mine-1', method: 'POST', path: '/nodes/a%2Fb', caller: 'olga', status: 400 },
        ...{ ms: expect.any(Number), error: body.slice(0, 2000) },
      },
    ]);
  });

  test.each<[string, string, object, number]>([
    ['an unreadable token', 'no access token', { authorization: 'a.b.c' }, 403],
    ['a rejected token', 'unknown', bearer('olga'), 401],
  ])('names no user by %s', async (_, caller, headers, status) => {
    answer = { status, body: '{}' };
    await send('/x', {}, {}, 'OPTIONS');
    await send('/x', {}, { ...headers });

    expect(log.latest()).toMatchObject([{ method: 'POST', caller }]);
  });
});
