import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';

export interface HttpRequest {
  url: URL;
  method: 'GET' | 'HEAD' | 'POST';
  headers?: Record<string, string>;
  body?: Buffer;
  /** Bounds the whole exchange, from the DNS lookup to the last byte of the reply. */
  timeoutMs: number;
  maxReplyBytes: number;
  /** Replaces the system's lookup of the name. */
  lookup?: LookupFunction;
}

interface ReplyHead {
  status: number;
  headers: http.IncomingHttpHeaders;
}

export interface HttpReply extends ReplyHead {
  body: Buffer;
}

/** `sent` is false only if no byte of the request can have left, because there was no connection yet. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly reason: 'connection' | 'timeout' | 'too_large';
  readonly sent: boolean;
  /** The head of the reply, if the exchange failed in the middle of its body. */
  readonly head: HttpReply | undefined;

  constructor(reason: TransportError['reason'], sent: boolean, head?: HttpReply, cause?: unknown) {
    super(`the exchange failed (${reason}, ${sent ? 'after' : 'before'} a connection was made)`, { cause });
    this.reason = reason;
    this.sent = sent;
    this.head = head;
  }
}

/*
 * Every exchange opens a connection of its own. A peer closes idle connections while a Lambda environment is
 * frozen or just as a request is written, and a paid request on such a connection would have an unknown
 * outcome. The peer isn't asked to close either: if it rejects a large request early, it would cut off its
 * own response. The agent for https remembers TLS sessions, so most handshakes are short.
 */
const agents = {
  'http:': { request: http.request, agent: new http.Agent({ keepAlive: true }) },
  'https:': { request: https.request, agent: new https.Agent({ keepAlive: true }) },
} as const;

for (const { agent } of Object.values(agents)) agent.keepSocketAlive = () => false;

/** A peer that accepts no connection within this time is as good as down, and nothing has been sent to it. */
const connectTimeoutMs = 5000;

type Fail = (reason: TransportError['reason'], cause?: unknown) => void;

/**
 * One exchange. Follows no redirect and repeats nothing. Written by hand because fetch costs 37 ms at its
 * first call, and doesn't say whether a failed request can have reached the peer.
 */
export function httpRequest({
  url,
  method,
  headers,
  body,
  timeoutMs,
  maxReplyBytes,
  lookup,
}: HttpRequest): Promise<HttpReply> {
  const { request, agent } = agents[url.protocol as keyof typeof agents];
  return new Promise((resolve, reject) => {
    let connected = false;
    let head: ReplyHead | undefined;
    const chunks: Buffer[] = [];
    const outgoing = request(url, { method, agent, headers, ...(lookup && { lookup }) });
    const finish = () => {
      clearTimeout(timer);
      clearTimeout(connectTimer);
    };
    const fail: Fail = (reason, cause) => {
      finish();
      outgoing.destroy();
      const reply = head && { ...head, body: Buffer.concat(chunks) };
      reject(new TransportError(reason, connected, reply, cause));
    };
    const timer = setTimeout(() => fail('timeout'), timeoutMs);
    const connectTimer = setTimeout(() => fail('timeout'), connectTimeoutMs);
    const onConnected = () => {
      connected = true;
      clearTimeout(connectTimer);
    };

    outgoing.on('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnected);
    });
    outgoing.on('upgrade', (_, socket) => {
      socket.destroy();
      fail('connection');
    });
    outgoing.on('error', (error) => fail('connection', error));
    outgoing.on('response', (incoming) => {
      // To Node, a switch of protocols without a name is a reply, not an upgrade.
      if (incoming.statusCode === 101) return fail('connection');
      head = { status: incoming.statusCode ?? 0, headers: incoming.headers };
      const { status, headers } = head;
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
