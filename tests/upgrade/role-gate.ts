import type { IncomingMessage, ServerResponse } from 'node:http';
import { relay, readAll, startReverseProxy } from '../../tools/local/reverse-proxy.ts';
import { bucketDenial, type Statements, tableDenial } from '../support/rights.ts';
import type { Stage } from './stage.ts';

export interface Gate {
  /** The addresses of the table and the bucket behind the roles. */
  environment: Record<string, string>;
  stop: () => Promise<void>;
}

/** Lets a function reach the table and the bucket as its role allows. What has no role is the operator or a caller. */
export async function startGate({ environment }: Stage, statements: Statements): Promise<Gate> {
  const start = (url: string, denialOf: (request: IncomingMessage, body: Buffer) => string | undefined) =>
    startReverseProxy(url, async (request, response, origin) => {
      const body = await readAll(request);
      const denial = denialOf(request, body);
      if (denial !== undefined) return deny(response, denial);
      relay(await origin.send(request, { body }), response);
    });
  const [dynamodb, s3] = await Promise.all([
    start(String(environment.AWS_ENDPOINT_URL_DYNAMODB), (request, body) =>
      tableDenial(request, body, statements),
    ),
    start(String(environment.AWS_ENDPOINT_URL_S3), (request) => bucketDenial(request, false, statements)),
  ]);
  return {
    environment: { AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url, AWS_ENDPOINT_URL_S3: s3.url },
    stop: async () => {
      await dynamodb.stop();
      await s3.stop();
    },
  };
}

function deny(response: ServerResponse, Message: string): void {
  const type = { 'content-type': 'application/x-amz-json-1.0' };
  response.writeHead(400, type).end(JSON.stringify({ __type: 'AccessDeniedException', Message }));
}
