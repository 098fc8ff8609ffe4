import { afterAll } from '@jest/globals';
import { type HttpServer, type Serve, startHttpServer } from '../../tools/processes/http-server.ts';

interface Part {
  stop: () => unknown;
}

const parts: Part[] = [];

/** Stops a part after the last test of the file. */
export function untilEnd<Started extends Part>(part: Started): Started {
  parts.push(part);
  return part;
}

/** An HTTP server on a free loopback port, for as long as the file's tests run. */
export async function serve(answer: Serve): Promise<HttpServer> {
  return untilEnd(await startHttpServer(answer));
}

afterAll(() => Promise.all(parts.map((part) => part.stop())));
