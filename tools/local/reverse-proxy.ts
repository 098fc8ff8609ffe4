import { Agent, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import { startHttpServer } from '../processes/http-server.ts';

interface Origin {
  /** Forwards a request, by default with its own body. Resolves with the head of the response. */
  send: (request: IncomingMessage, changes?: { body: Buffer }) => Promise<IncomingMessage>;
}

export interface Server {
  url: string;
  stop: () => Promise<void>;
}

export type Listener = (request: IncomingMessage, response: ServerResponse, origin: Origin) => Promise<void>;

/** Listens in front of another server. Connections on both sides stay open, so requests need no handshake. */
export async function startReverseProxy(url: string, listener: Listener, port = 0): Promise<Server> {
  const agent = new Agent({ keepAlive: true });
  const origin: Origin = { send: (request, changes) => send(url, agent, request, changes?.body) };
  const server = await startHttpServer((request, response) => listener(request, response, origin), port);
  const stop = async () => {
    await server.stop();
    agent.destroy();
  };
  return { url: `http://127.0.0.1:${server.port}`, stop };
}

function send(
  url: string,
  agent: Agent,
  incoming: IncomingMessage,
  body: Buffer | undefined,
): Promise<IncomingMessage> {
  const { url: path, method } = incoming;
  return new Promise((resolve, reject) => {
    const options = { path, method, headers: sentHeaders(incoming, body), agent };
    const outgoing = sendRequest(new URL(url), options, resolve);
    outgoing.on('error', reject);
    if (body) outgoing.end(body);
    else incoming.pipe(outgoing);
  });
}

/** In Node's flat form, names and values in turn, which keeps repeated headers. */
function sentHeaders({ rawHeaders }: IncomingMessage, body: Buffer | undefined): string[] {
  const isLeftOut = (name: string) =>
    ['connection', 'keep-alive'].includes(name) ||
    (body !== undefined && ['content-length', 'transfer-encoding'].includes(name));
  return [...without(rawHeaders, isLeftOut), ...(body ? ['content-length', String(body.length)] : [])];
}

function without(rawHeaders: readonly string[], isLeftOut: (name: string) => boolean): string[] {
  return rawHeaders.filter((_, index) => !isLeftOut(String(rawHeaders[index - (index % 2)]).toLowerCase()));
}

const perConnection = ['connection', 'keep-alive', 'transfer-encoding'];

/** A response's headers in Node's flat form, except those about the connection to this proxy's origin. */
export function endToEndHeaders({ rawHeaders }: IncomingMessage): string[] {
  return without(rawHeaders, (name) => perConnection.includes(name));
}

/** Streams a response to the client. */
export function relay(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, endToEndHeaders(answer));
  answer.on('error', () => response.destroy());
  answer.pipe(response);
}
