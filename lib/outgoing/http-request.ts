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

export interface HttpReply {
  status: number;
  headers: http.IncomingHttpHeaders;
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
const protocols = {
  'http:': { request: http.request, agent: new http.Agent(), connected: 'connect' },
  'https:': { request: https.request, agent: new https.Agent(), connected: 'secureConnect' },
} as const;
const notToClose = { connection: 'keep-alive' };

/** A peer that accepts no connection within this time is as good as down, and nothing has been sent to it. */
const connectTimeoutMs = 5000;

/**
 * One exchange. Follows no redirect and repeats nothing. Written by hand because fetch costs 37 ms at its
 * first call, and doesn't say whether a failed request can have reached the peer.
 */
export async function httpRequest(exchange: HttpRequest): Promise<HttpReply> {
  const { url, method, headers, body, timeoutMs, maxReplyBytes, lookup } = exchange;
  const { request, agent, connected } = protocols[url.protocol as keyof typeof protocols];
  const outgoing = request(url, { method, agent, lookup, headers: { ...notToClose, ...headers } });
  let reason: TransportError['reason'] = 'connection';
  const stop = () => {
    reason = 'timeout';
    outgoing.destroy();
  };
  const timer = setTimeout(stop, timeoutMs);
  const connectTimer = setTimeout(stop, connectTimeoutMs);
  let isSent = false;
  outgoing.on('socket', (socket) => {
    socket.once(connected, () => {
      isSent = true;
      clearTimeout(connectTimer);
    });
  });
  let incoming: http.IncomingMessage | undefined;
  const chunks: Buffer[] = [];
  try {
    incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
      // Nothing but `close` comes if the peer switches to another protocol.
      outgoing.on('response', resolve).on('error', reject).on('close', reject).end(body);
    });
    let size = 0;
    for await (const chunk of incoming) {
      size += chunk.length;
      if (size > maxReplyBytes) {
        reason = 'too_large';
        throw new Error(`The reply has more than ${maxReplyBytes} bytes.`);
      }
      chunks.push(chunk);
    }
    return replyOf(incoming, chunks);
  } catch (cause) {
    throw new TransportError(reason, isSent, incoming && replyOf(incoming, chunks), cause);
  } finally {
    clearTimeout(timer);
    clearTimeout(connectTimer);
  }
}

function replyOf({ statusCode: status = 0, headers }: http.IncomingMessage, chunks: Buffer[]): HttpReply {
  return { status, headers, body: Buffer.concat(chunks) };
}
