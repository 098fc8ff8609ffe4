import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { HttpServer, Serve } from '../processes/http-server.ts';
import { type Cors, corsHeaders, preflightHeaders } from './cors.ts';
import { isLocalPage, startLocalServer } from './local-only.ts';
import { xml } from './s3-bodies.ts';
import { ruleFor } from './s3-cors.ts';
import { S3Objects } from './s3-objects.ts';
import { accessDenied, S3Error } from './s3-error.ts';
import { type Answer, type DenialOf, S3 } from './s3-operations.ts';
import type { Queue } from './sqs-queue.ts';

interface Options {
  denialOf?: DenialOf;
  /** Gets S3's message for each object put under `staging/`, as that of the deployed bucket does. */
  uploads?: Queue;
}

/**
 * Starts an S3 that keeps its objects in a directory, one folder for each bucket. It has the operations that this
 * project uses, and is as strict as S3 about signatures, conditions, versions and checksums; others get 501.
 */
export async function startS3(
  port: number,
  directory: string,
  bucketName = '',
  { denialOf = () => undefined, uploads }: Options = {},
): Promise<HttpServer> {
  for (const name of ['', bucketName, ...(bucketName === '' ? [] : [`${bucketName}-logs`])])
    await mkdir(`${directory}/${name}`, { recursive: true });
  const s3 = new S3(new S3Objects(directory), denialOf, (message) => uploads?.send(message));
  const serve: Serve = async (request, response) => {
    // By the clock that checks signatures, so that the SDK can adjust its own to it.
    response.setHeader('date', new Date().toUTCString());
    const rule = request.headers.origin === undefined ? undefined : await ruleFor(request);
    const cors = rule && corsHeaders(rule, request);
    try {
      const answer = request.method === 'OPTIONS' ? preflight(rule, request) : await s3.answer(request);
      await send(request, response, answer, cors);
    } catch (error) {
      // A broken connection needs no response.
      if (!(error instanceof S3Error) || response.headersSent) throw error;
      // S3 reports a missing object only to callers who may list the bucket.
      const hidden = error.code === 'NoSuchKey' ? denialOf(request, true) : undefined;
      const seen = hidden === undefined ? error : accessDenied(hidden);
      await send(request, response, toAnswer(seen), cors);
    }
  };
  return startLocalServer(port, serve, isLocalPage);
}

function preflight(rule: Cors | undefined, request: IncomingMessage): Answer {
  if (rule) return { status: 200, headers: preflightHeaders(rule, request) };
  throw new S3Error(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
}

function toAnswer({ status, code, message }: S3Error): Answer {
  return { status, body: xml('Error', { Code: code, Message: message }) };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers = {}, body }: Answer,
  cors: object | undefined,
): Promise<void> {
  for (const [name, value] of Object.entries({ 'x-amz-request-id': randomUUID(), ...cors, ...headers }))
    if (value !== undefined) response.setHeader(name, value);
  if (typeof body === 'string') response.setHeader('content-type', 'application/xml');
  response.statusCode = status;
  if (body === undefined || typeof body === 'string' || request.method === 'HEAD' || body.start === body.end)
    return void response.end(typeof body === 'string' ? body : undefined);
  await pipeline(createReadStream(body.file, { start: body.start, end: body.end - 1 }), response);
}
