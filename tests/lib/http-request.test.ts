import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { httpRequest } from '../../lib/http-request.ts';
import { peer, trustPeer } from '../support/tls-peer.ts';

const servers: { close: () => void }[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  jest.restoreAllMocks();
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
    timeoutMs: 2000,
    maxReplyBytes: 1000,
    ...options,
  });

describe('what is known to be unsent', () => {
  test('a connection that is refused', async () => {
    const address = await listen(createTcpServer());
    servers.splice(0).forEach((server) => {
      server.close();
    });

    await expect(post(`http://${address}/`)).rejects.toMatchObject({ reason: 'connection', sent: false });
  });

  test('a name that does not exist', async () => {
    await expect(post('http://no-such-host.invalid/')).rejects.toMatchObject({ sent: false });
  });

  test('a TLS handshake that the peer breaks off', async () => {
    const address = await listen(createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));

    await expect(post(`https://${address}/`)).rejects.toMatchObject({ reason: 'connection', sent: false });
  });

  test('a TLS handshake that never ends', async () => {
    const address = await listen(createTcpServer(() => {}));
    const request = post(`https://${address}/`, { timeoutMs: 100 });

    await expect(request).rejects.toMatchObject({ reason: 'timeout', sent: false });
  });
});

describe('what may have been sent', () => {
  beforeAll(trustPeer);

  test('a connection over TLS that breaks before the reply', async () => {
    const breaks = createTlsServer(peer, (socket) => void socket.once('data', () => socket.destroy()));

    await expect(post(`https://${await listen(breaks)}/`)).rejects.toMatchObject({ sent: true });
  });

  test('a connection over TLS on which no reply comes', async () => {
    const address = await listen(createTlsServer(peer, (socket) => void socket.resume()));
    const request = post(`https://${address}/`, { timeoutMs: 300 });

    await expect(request).rejects.toMatchObject({ reason: 'timeout', sent: true });
  });

  test('a connection that breaks before the reply', async () => {
    const address = await listen(
      createTcpServer((socket) => void socket.once('data', () => socket.destroy())),
    );

    await expect(post(`http://${address}/`)).rejects.toMatchObject({ sent: true, head: undefined });
  });

  test('a reply that is no HTTP', async () => {
    const address = await listen(createTcpServer((socket) => void socket.end('SSH-2.0-OpenSSH\r\n')));

    await expect(post(`http://${address}/`)).rejects.toMatchObject({ sent: true, head: undefined });
  });

  test('a reply that is cut off, of which the head is kept', async () => {
    const address = await serve((_, response) => {
      response.writeHead(503, { 'content-length': '10', 'retry-after': '7' });
      response.write('{', () => response.destroy());
    });
    const head = { status: 503, headers: expect.objectContaining({ 'retry-after': '7' }) };

    await expect(post(`http://${address}/`)).rejects.toMatchObject({
      reason: 'connection',
      sent: true,
      head,
    });
  });

  test('a reused connection that the peer has closed', async () => {
    let requests = 0;
    const address = await serve((request, response) => {
      requests += 1;
      if (requests === 1) response.end('ok');
      else request.socket.destroy();
    });
    await post(`http://${address}/`);

    await expect(post(`http://${address}/`)).rejects.toMatchObject({ sent: true });
  });
});

describe('an exchange', () => {
  test('takes a reply up to its bound, and not a byte more', async () => {
    const address = await serve((request, response) =>
      response.end('x'.repeat(Number(request.url?.slice(1)))),
    );

    expect((await post(`http://${address}/1000`)).body.length).toBe(1000);
    await expect(post(`http://${address}/1001`)).rejects.toMatchObject({
      reason: 'too_large',
      head: { status: 200 },
    });
  });

  test('does not follow a redirect', async () => {
    const paths: unknown[] = [];
    const address = await serve((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    });

    expect((await post(`http://${address}/here`)).status).toBe(307);
    expect(paths).toEqual(['/here']);
  });

  test('reuses a connection, but not one that may have gone stale while the function slept', async () => {
    const ports = new Set<unknown>();
    const address = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end();
    });
    await post(`http://${address}/`);
    await post(`http://${address}/`);
    expect(ports.size).toBe(1);

    const later = Date.now() + 60_000;
    jest.spyOn(Date, 'now').mockReturnValue(later);
    await post(`http://${address}/`);
    expect(ports.size).toBe(2);
  });
});
