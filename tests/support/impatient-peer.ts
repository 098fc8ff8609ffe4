import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Runs in a worker thread: an HTTP server that closes a connection soon after it became idle. It sets its own
 * connection header, because Node would add one that says when the connection will be closed.
 */
const server = createServer((request, response) => {
  response.setHeader('connection', 'keep-alive');
  request.resume().once('end', () => response.end('ok'));
});
server.keepAliveTimeout = workerData.idleMs;
server.keepAliveTimeoutBuffer = 0;
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
