import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGateway } from '../../tools/local/gateway.ts';
import { findFreePort } from '../../tools/processes/ports.ts';
import { startProcess } from '../../tools/processes/start-process.ts';

/* The local gateway before serverless-offline, with functions that no endpoint of ours is like. */

const service = `
service: gateway-tests
provider: { name: aws, runtime: nodejs20.x }
plugins: [serverless-offline]
functions:
  throws: { handler: functions.throws, events: [{ httpApi: POST /throws }] }
  rejects: { handler: functions.rejects, events: [{ httpApi: POST /rejects }] }
  echo: { handler: functions.echo, events: [{ httpApi: POST /echo }] }
  bare: { handler: functions.bare, events: [{ httpApi: POST /bare }] }
`;

const functions = `
export const throws = () => { throw new Error('thrown'); };
export const rejects = async () => { throw new TypeError('rejected'); };
export const echo = async ({ headers }) => ({ statusCode: 200, headers: { 'x-request-id': '1' }, body: JSON.stringify(headers) });
export const bare = async () => ({ statusCode: 200, body: '{"of": "another shape"}' });
`;

const folder = await mkdtemp(join(tmpdir(), 'node-registry-gateway-'));
let api: { url: string; stop: () => Promise<void> };

beforeAll(async () => {
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await writeFile(join(folder, 'serverless.yml'), service);
  await writeFile(join(folder, 'functions.js'), functions);
  const [http, lambda] = [await findFreePort(), await findFreePort()];
  const offline = await startProcess({
    name: 'serverless-offline',
    command: resolve('node_modules/.bin/serverless'),
    args: `offline start --httpPort ${http} --lambdaPort ${lambda} --noPrependStageInUrl --useInProcess`.split(
      ' ',
    ),
    cwd: folder,
    env: {
      ...process.env,
      NODE_OPTIONS: '--conditions=in-tree',
      SLS_TELEMETRY_DISABLED: '1',
      SLS_NOTIFICATIONS_MODE: 'off',
    },
    readyText: 'Server ready',
    timeoutMs: 90_000,
  });
  const gateway = await startGateway(0, `http://localhost:${http}`);
  const stop = async () => {
    await gateway.stop();
    await offline.stop();
  };
  api = { url: gateway.url, stop };
});

afterAll(async () => {
  await api.stop();
  await rm(folder, { recursive: true });
});

/** Sends headers as they are: names and values in turn. */
function post(
  path: string,
  headers: string[] = [],
  host = ['host', new URL(api.url).host],
): Promise<{ status: number | undefined; text: string }> {
  return new Promise((done, failed) => {
    const outgoing = request(
      api.url + path,
      { method: 'POST', headers: [...host, ...headers] },
      async (incoming) => {
        let text = '';
        for await (const chunk of incoming) text += chunk;
        done({ status: incoming.statusCode, text });
      },
    );
    outgoing.on('error', failed).end();
  });
}

describe('the local gateway', () => {
  test.each(['/throws', '/rejects'])(
    'answers 500 as API Gateway does if a function crashes: %s',
    async (path) => {
      expect(await post(path)).toEqual({ status: 500, text: '{"message":"Internal Server Error"}' });
    },
  );

  test('rejects a foreign host, and leaves origins to the CORS rules of the API', async () => {
    const origin = ['origin', 'https://example.com'];

    expect((await post('/bare', [], ['host', 'registry.example.com'])).status).toBe(421);
    expect((await post('/bare', origin)).status).toBe(200);
  });

  test('passes any other answer on as it is', async () => {
    expect(await post('/bare')).toEqual({ status: 200, text: '{"of": "another shape"}' });
  });

  test('joins headers that occur twice by a comma, in their order', async () => {
    const headers = [
      'idempotency-key',
      'a',
      'X-Other',
      '1',
      'Idempotency-Key',
      'b',
      'content-type',
      'text/plain',
    ];
    const { text } = await post('/echo', [
      ...headers,
      'Content-Type',
      'application/json',
      'authorization',
      'Bearer x',
    ]);

    expect(JSON.parse(text)).toMatchObject({
      'idempotency-key': 'a,b',
      'x-other': '1',
      'content-type': 'text/plain,application/json',
      authorization: 'Bearer x',
    });
  });
});

describe('a client that asks for it', () => {
  test.each(['echo', 'bare', 'throws'])('gets its connection closed after %s', async (name) => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write(
      `POST /${name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    );
    // Ends only when the gateway closes the connection.
    const answer = await text(socket);

    expect(answer).toMatch(/^HTTP\/1\.1 (?:200|500) /);
    expect(answer.match(/^connection: .*$/gim)).toEqual(['Connection: close']);
  });
});
