import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { until } from '@node-registry/testing/until';
import { uploadShowing } from '../upload.ts';

test.each<[string, (request: ClientRequest, client: AbortController) => unknown, string]>([
  ['its client gives up', (_, client) => client.abort(), 'AbortError: The operation was aborted'],
  // As its socket says after the minute.
  ['no byte moves for a minute', (request) => request.emit('timeout'), 'Error: the connection stalled'],
])('ends an upload when %s', async (_, stop, reason) => {
  const storage = createServer();
  await once(storage.listen(0, '127.0.0.1'), 'listening');
  const { port } = storage.address() as AddressInfo;
  const requests: ClientRequest[] = [];
  // Others of this process may start meanwhile.
  const remember = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    if (request.getHeader('host') === `127.0.0.1:${port}`) requests.push(request);
  };
  subscribe('http.client.request.start', remember);
  const sent: number[] = [];
  const client = new AbortController();
  const upload = uploadShowing((bytes) => sent.push(bytes));
  const url = `http://127.0.0.1:${port}/`;
  const ending = upload(url, new Uint8Array(100_000), client.signal).catch(String);
  await until(() => sent.length > 1);
  unsubscribe('http.client.request.start', remember);
  const [request] = requests as [ClientRequest];
  stop(request, client);

  expect([await ending, sent, Object(request).timeout]).toEqual([reason, [65_536, 100_000], 60_000]);
  expect(request.destroyed).toBe(true);
  storage.close();
});

/** The status of the answer, or why there was none before the archive was sent whole or the answer ended. */
const statusAt = (port: number, archive: Uint8Array) =>
  uploadShowing(() => {})(`http://127.0.0.1:${port}/`, archive, AbortSignal.timeout(2500)).catch(String);

test('ends with the head of an answer whose body has no end', async () => {
  const storage = createServer((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n'),
  );
  await once(storage.listen(0, '127.0.0.1'), 'listening');
  const { port } = storage.address() as AddressInfo;
  const status = await statusAt(port, new Uint8Array(1));
  storage.close();

  expect(status).toBe(200);
});

test('stops sending an archive after its storage has rejected it', async () => {
  let head = '';
  const storage = createServer((socket) => {
    socket.once('data', (chunk) => {
      head = String(chunk).split('\r\n\r\n', 1)[0] ?? '';
      socket.pause().write('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await once(storage.listen(0, '127.0.0.1'), 'listening');
  const connected = once(storage, 'connection');
  const { port } = storage.address() as AddressInfo;
  // More than the buffers on the way take.
  const archive = new Uint8Array(50_000_000);
  const status = await statusAt(port, archive);
  const [socket] = await connected;
  await once(socket.resume(), 'close');
  storage.close();

  expect(status).toBe(403);
  expect(socket.bytesRead).toBeLessThan(archive.length);
  expect(head.split('\r\n').slice(0, 3)).toEqual([
    ...['PUT / HTTP/1.1', 'content-type: application/zip', 'content-length: 50000000'],
  ]);
});
