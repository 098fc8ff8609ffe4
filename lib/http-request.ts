import * as http from 'node:http';
import * as https from 'node:https';

interface HttpRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: Buffer;
  /** The one bound on the whole exchange, from the look-up of the name to the last byte of the reply. */
  timeoutMs: number;
  maxReplyBytes: number;
}

interface ReplyHead {
  status: number;
  headers: http.IncomingHttpHeaders;
}

export interface HttpReply extends ReplyHead {
  body: Buffer;
}

/** `sent` is false only where not one byte of the request can have left: no connection had been made. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly reason: 'connection' | 'timeout' | 'too_large';
  readonly sent: boolean;
  /** What the reply began with, where the exchange failed in the middle of its body. */
  readonly head: ReplyHead | undefined;

  constructor(reason: TransportError['reason'], sent: boolean, head?: ReplyHead, cause?: unknown) {
    super(`the exchange failed (${reason}, ${sent ? 'after' : 'before'} a connection was made)`, { cause });
    this.reason = reason;
    this.sent = sent;
    this.head = head;
  }
}

const agents = {
  'http:': { request: http.request, agent: new http.Agent({ keepAlive: true }) },
  'https:': { request: https.request, agent: new https.Agent({ keepAlive: true }) },
} as const;

/** A peer that takes no connection within this time is as good as down, and nothing has been sent to it. */
const connectTimeoutMs = 5000;

const maxIdleMs = 4000;
const freeSince = new WeakMap<object, number>();

for (const { agent } of Object.values(agents)) {
  agent.on('free', (socket: object) => freeSince.set(socket, Date.now()));
}

/** One exchange over a kept-alive connection. Follows no redirect and repeats nothing. */
export function httpRequest({
  url,
  method,
  headers,
  body,
  timeoutMs,
  maxReplyBytes,
}: HttpRequest): Promise<HttpReply> {
  const { request, agent } = agents[url.protocol as keyof typeof agents];
  dropStaleSockets(agent);
  return new Promise((resolve, reject) => {
    let connected = false;
    let head: ReplyHead | undefined;
    const outgoing = request(url, { method, agent, headers });
    const finish = () => {
      clearTimeout(timer);
      clearTimeout(connectTimer);
    };
    const fail = (reason: TransportError['reason'], cause?: unknown) => {
      finish();
      outgoing.destroy();
      reject(new TransportError(reason, connected, head, cause));
    };
    const timer = setTimeout(() => fail('timeout'), timeoutMs);
    const connectTimer = setTimeout(() => fail('timeout'), connectTimeoutMs);
    const onConnected = () => {
      connected = true;
      clearTimeout(connectTimer);
    };

    outgoing.on('socket', (socket) => {
      if (outgoing.reusedSocket) onConnected();
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnected);
    });
    outgoing.on('error', (error) => fail('connection', error));
    outgoing.on('response', (incoming) => {
      head = { status: incoming.statusCode ?? 0, headers: incoming.headers };
      const { status, headers } = head;
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxReplyBytes) fail('too_large');
        else chunks.push(chunk);
      });
      incoming.on('error', (error) => fail('connection', error));
      incoming.on('end', () => {
        finish();
        resolve({ status, headers, body: Buffer.concat(chunks) });
      });
    });
    outgoing.end(body);
  });
}

/**
 * A Lambda environment may sleep for minutes between two invocations, and the peer closes its end meanwhile.
 * A request written to such a socket fails with an unknown outcome, so old sockets are dropped before use.
 */
function dropStaleSockets(agent: http.Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) {
      if (Date.now() - (freeSince.get(socket) ?? 0) > maxIdleMs) socket.destroy();
    }
  }
}
