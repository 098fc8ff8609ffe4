import { Agent, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startHttpServer } from '../processes/http-server.ts';

interface Received {
  body: Buffer;
  /** Forwards the request. Resolves with the head of the response. */
  send: () => Promise<IncomingMessage>;
}

export interface Server {
  url: string;
  stop: () => Promise<void>;
}

export type Listener = (
  request: IncomingMessage,
  response: ServerResponse,
  received: Received,
) => Promise<void>;

/** Listens in front of another server. Connections on both sides stay open, so requests need no handshake. */
export async function startReverseProxy(url: string, listener: Listener, port = 0): Promise<Server> {
  const agent = new Agent({ keepAlive: true });
  const server = await startHttpServer(async (request, response) => {
    const body = await buffer(request);
    await listener(request, response, { body, send: () => send(url, agent, request, body) });
  }, port);
  const stop = async () => {
    await server.stop();
    agent.destroy();
  };
  return { url: `http://127.0.0.1:${server.port}`, stop };
}

function send(url: string, agent: Agent, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { url: path, method, rawHeaders } = incoming;
  const kept = without(rawHeaders, (name) => ofConnections.includes(name) || name === 'content-length');
  const headers = [...kept, 'content-length', String(body.length)];
  return new Promise((resolve, reject) => {
    const outgoing = sendRequest(new URL(url), { path, method, headers, agent }, resolve);
    outgoing.on('error', reject).end(body);
  });
}

/** In Node's flat form, names and values in turn, which keeps repeated headers. */
function without(rawHeaders: readonly string[], isLeftOut: (name: string) => boolean): string[] {
  return rawHeaders.filter((_, index) => !isLeftOut(String(rawHeaders[index - (index % 2)]).toLowerCase()));
}

const ofConnections = ['connection', 'keep-alive', 'transfer-encoding'];

/** A response's headers in Node's flat form, except those about the connection to this proxy's origin. */
export function endToEndHeaders({ rawHeaders }: IncomingMessage): string[] {
  return without(rawHeaders, (name) => ofConnections.includes(name));
}

/** Streams a response to the client. */
export function relay(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, endToEndHeaders(answer));
  answer.on('error', () => response.destroy());
  answer.pipe(response);
}
