import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { httpRequest } from '../../../lib/outgoing/http-request.ts';
import { stopTimers } from '@node-registry/testing/clock';
import { until } from '@node-registry/testing/until';
import { peer, trustPeer } from '../../support/tls-peer.ts';

const servers: { close: () => void }[] = [];
const sockets = new Set<Socket>();

beforeAll(trustPeer);

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
  sockets.clear();
});

async function listen(server: Server): Promise<string> {
  server.on('connection', (socket) => sockets.add(socket));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (listener: RequestListener) => listen(createServer(listener));

const post = (url: string, options: { timeoutMs?: number; maxReplyBytes?: number } = {}) =>
  httpRequest({
    url: new URL(url),
    method: 'POST',
    body: Buffer.from('{}'),
    timeoutMs: 60_000,
    maxReplyBytes: 1000,
    ...options,
  });

describe('a request that was not sent', () => {
  test('reports a refused connection as not sent', async () => {
    const address = await listen(createTcpServer());
    servers.splice(0).forEach((server) => {
      server.close();
    });
    stopTimers();

    const error = {
      reason: 'connection',
      sent: false,
      cause: expect.objectContaining({ code: 'ECONNREFUSED' }),
    };
    await expect(post(`http://${address}/`)).rejects.toMatchObject(error);
    expect(jest.getTimerCount()).toBe(0);
  });

  test.each<[string, (socket: Socket) => void, number, string]>([
    ['an aborted', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), 60_000, 'connection'],
    ['an endless', () => {}, 100, 'timeout'],
  ])('reports %s TLS handshake as not sent', async (_, answer, timeoutMs, reason) => {
    const request = post(`https://${await listen(createTcpServer(answer))}/`, { timeoutMs });

    await expect(request).rejects.toMatchObject({ reason, sent: false });
  });
});

describe('a request that may have been sent', () => {
  test('reports a TLS connection that breaks before the reply as perhaps sent', async () => {
    const breaks = createTlsServer(peer, (socket) => void socket.once('data', () => socket.destroy()));

    await expect(post(`https://${await listen(breaks)}/`)).rejects.toMatchObject({ sent: true });
  });

  test('reports a missing reply over TLS as perhaps sent', async () => {
    const asked = Promise.withResolvers<void>();
    const server = createTlsServer(peer, (socket) => void socket.once('data', () => asked.resolve()));
    const address = await listen(server);
    stopTimers();
    const request = post(`https://${address}/`, { timeoutMs: 300 });
    const rejected = expect(request).rejects.toMatchObject({ reason: 'timeout', sent: true });
    await asked.promise;
    jest.advanceTimersByTime(300);
    await rejected;
    await until(() => [...sockets].every((socket) => socket.closed));
    expect(jest.getTimerCount()).toBe(0);
  });

  test('reports a reply that is cut off as perhaps sent, with its status and headers', async () => {
    const address = await serve((_, response) => {
      response.writeHead(503, { 'content-length': '10', 'retry-after': '7' });
      response.write('{', () => response.destroy());
    });
    const head = { status: 503, headers: expect.objectContaining({ 'retry-after': '7' }) };
    const error = { reason: 'connection', sent: true, head };

    await expect(post(`http://${address}/`)).rejects.toMatchObject(error);
  });
});

describe('a foreign reply', () => {
  test('fails at once if the peer switches to another protocol', async () => {
    const switched = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\nhello';
    const address = await listen(
      createTcpServer((socket) => void socket.once('data', () => socket.write(switched))),
    );
    await expect(post(`http://${address}/`)).rejects.toMatchObject({ reason: 'connection', sent: true });
    await until(() => [...sockets].every((socket) => socket.closed));
  });
});

describe('exchange', () => {
  test('accepts a few interim replies before the reply', async () => {
    const address = await serve((_, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.end('after all');
    });

    expect((await post(`http://${address}/`)).body.toString()).toBe('after all');
  });

  test('accepts a reply of the maximum size, and fails with one more byte', async () => {
    const address = await serve((request, response) =>
      response.end('x'.repeat(Number(request.url?.slice(1)))),
    );

    expect((await post(`http://${address}/1000`)).body.length).toBe(1000);
    const error = { reason: 'too_large', head: { status: 200 } };
    await expect(post(`http://${address}/1001`)).rejects.toMatchObject(error);
  });

  test('accepts a reply that comes before a large request is sent completely', async () => {
    const address = await serve((request, response) => {
      request.resume();
      response.writeHead(413).end('too large');
    });
    const body = Buffer.alloc(5_000_000);
    const url = new URL(`http://${address}/`);

    for (let count = 0; count < 10; count += 1) {
      const reply = await httpRequest({ url, method: 'POST', body, timeoutMs: 60_000, maxReplyBytes: 1000 });
      expect([reply.status, reply.body.toString()]).toEqual([413, 'too large']);
    }
  });

  test.each(['http', 'https'])('closes its %s connection after the reply', async (scheme) => {
    const answer: RequestListener = ({ headers }, response) => void response.end(headers.connection);
    const server = scheme === 'http' ? createServer(answer) : createHttpsServer(peer, answer);
    const address = await listen(server);
    await Promise.all([post(`${scheme}://${address}/`), post(`${scheme}://${address}/`)]);
    const { body } = await post(`${scheme}://${address}/`);

    // Its peer isn't asked to close it.
    expect([body.toString(), sockets.size]).toEqual(['keep-alive', 3]);
    await until(() => [...sockets].every((socket) => socket.closed));
  });

  test('fails after five seconds without a connection', async () => {
    const address = await listen(createTcpServer(() => {}));
    stopTimers();
    let isOver = false;
    const request = post(`https://${address}/`).finally(() => (isOver = true));
    const rejected = expect(request).rejects.toMatchObject({ reason: 'timeout', sent: false });
    await until(() => sockets.size > 0);

    jest.advanceTimersByTime(4999);
    for (let count = 0; count < 20; count += 1) await turn();
    expect(isOver).toBe(false);
    jest.advanceTimersByTime(1);
    await rejected;
  });

  test.each(['http', 'https'])(
    'waits longer than five seconds after it connected over %s',
    async (scheme) => {
      const waiting: (() => void)[] = [];
      const answerLater: RequestListener = (_, response) => void waiting.push(() => response.end('late'));
      const server = scheme === 'http' ? createServer(answerLater) : createHttpsServer(peer, answerLater);
      const address = await listen(server);
      stopTimers();
      for (let round = 0; round < 2; round += 1) {
        const request = post(`${scheme}://${address}/`, { timeoutMs: 60_000 });
        await until(() => waiting.length > 0);
        jest.advanceTimersByTime(10_000);
        waiting.pop()?.();

        expect((await request).body.toString()).toBe('late');
        expect(jest.getTimerCount()).toBe(0);
      }
    },
  );
});
