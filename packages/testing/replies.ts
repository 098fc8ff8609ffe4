import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';

interface ScriptedReply {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** For a file's top level: a server that answers each request with the next of its replies, in a registry's format. */
export async function startReplies() {
  const replies: ScriptedReply[] = [];
  const server = createServer(async (request, response) => {
    await text(request);
    const { status, headers, body = {} } = replies.shift() ?? { status: 500 };
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-request-id': 'scripted',
      ...headers,
    });
    response.end(JSON.stringify(body));
  });
  await once(server.listen(0, 'localhost'), 'listening');
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    add: (...next: ScriptedReply[]) => replies.push(...next),
  };
}
