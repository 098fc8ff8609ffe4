import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './ports.ts';

export type Serve = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface HttpServer {
  url: string;
  port: number;
  stop: () => Promise<void>;
}

/** Serves a loopback port, by default a free one. A request that can't be served loses its connection. */
export async function startHttpServer(serve: Serve, port = 0): Promise<HttpServer> {
  const server = createServer(async (request, response) => {
    try {
      await serve(request, response);
    } catch {
      request.socket.destroy();
    }
  });
  // Node closes an idle connection after 5 s, possibly while a client is about to use it again.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  const used = await listen(server, port);
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://localhost:${used}`, port: used, stop };
}
