import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startReverseProxy } from '../../tools/local/reverse-proxy.ts';
import type { Stage } from './stage.ts';
import { dynamodbNeeds, missingRights, type Need, type Statements, suffix } from '../infra/grants.ts';

export interface Gate {
  /** The addresses of the table and the bucket behind the roles. */
  environment: Record<string, string>;
  stop: () => Promise<void>;
}

/** Lets a function reach the table and the bucket as its role allows. What has no role is the operator or a caller. */
export async function startGate({ environment }: Stage, statements: Statements): Promise<Gate> {
  const judge = (request: IncomingMessage, needs: Need[]) => {
    const name = request.headers['running-function'];
    return name === undefined ? [] : missingRights(statements, roleOf(String(name)), needs);
  };
  const table = String(environment.AWS_ENDPOINT_URL_DYNAMODB);
  const dynamodb = await startReverseProxy(table, async (request, response, origin) => {
    const body = await buffer(request);
    const command = String(request.headers['x-amz-target']).split('.').at(-1);
    const missing = judge(request, dynamodbNeeds[`${command}Command`]?.(JSON.parse(body.toString())) ?? []);
    if (missing[0]) return deny(response, 400, JSON.stringify(denial(missing[0])));
    pass(response, await origin.send(request, { body }));
  });
  const bucket = `/${environment.BUCKET_NAME}/`;
  const s3 = await startReverseProxy(
    String(environment.AWS_ENDPOINT_URL_S3),
    async (request, response, origin) => {
      const missing = judge(request, bucketNeeds(request, bucket));
      if (missing[0]) return deny(response, 403, '<Error><Code>AccessDenied</Code></Error>');
      pass(response, await origin.send(request));
    },
  );
  return {
    environment: { AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url, AWS_ENDPOINT_URL_S3: s3.url },
    stop: async () => {
      await dynamodb.stop();
      await s3.stop();
    },
  };
}

function roleOf(name: string): string {
  return `${name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Role`;
}

function bucketNeeds({ url = '', method = '', headers }: IncomingMessage, bucket: string): Need[] {
  const { pathname, searchParams } = new URL(url, 'http://s3');
  const keyOf = (path: string) => decodeURIComponent(path).slice(bucket.length);
  const version = suffix(searchParams.get('versionId') ?? undefined);
  const action = { GET: 'Get', HEAD: 'Get', PUT: 'Put', DELETE: 'Delete' }[method];
  const need = { action: `s3:${action}Object${version}`, target: keyOf(pathname) };
  // Listing has a right of its own, on the bucket.
  if (need.target === '') return [];
  const source = headers['x-amz-copy-source'];
  if (source === undefined) return [need];
  const [path = '', query] = `/${source}`.replace('//', '/').split('?');
  return [need, { action: `s3:GetObject${suffix(query)}`, target: keyOf(path) }];
}

function denial({ action, target }: Need) {
  const message = `not authorized to perform ${action} on ${target}`;
  return { __type: 'com.amazon.coral.service#AccessDeniedException', Message: message };
}

function deny(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
}

function pass(response: ServerResponse, answer: IncomingMessage): void {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.pipe(response);
}
