import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface Page {
  /** 200 unless it says otherwise. */
  status?: number;
  type: string;
  content: string | Uint8Array;
  /** Without it a browser asks each time: after a start the page may be another one. */
  cacheControl?: string;
  etag?: string | undefined;
}

const compress = promisify(gzip);
const minBytes = 1000;

/** Large files, such as the viewer of the reference, are compressed once. */
const compressed = new WeakMap<Uint8Array, Promise<Buffer>>();

/** Answers with a page, compressed as a distribution does it. */
export async function sendPage(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { status = 200, type, content, cacheControl = 'no-cache', etag }: Page,
): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const takesGzip = /\bgzip\b/.test(String(headers['accept-encoding']));
  const isSmaller = takesGzip && bytes.length >= minBytes && !type.includes('zip');
  const sent = isSmaller ? await compressedOnce(bytes) : bytes;
  response.writeHead(status, {
    ...(type && { 'content-type': type }),
    ...{ 'cache-control': cacheControl, 'content-length': sent.length, vary: 'accept-encoding' },
    ...(etag !== undefined && { etag }),
    ...(isSmaller && { 'content-encoding': 'gzip' }),
  });
  response.end(method === 'HEAD' || status === 304 ? undefined : sent);
}

function compressedOnce(bytes: Uint8Array): Promise<Buffer> {
  const known = compressed.get(bytes) ?? compress(bytes);
  compressed.set(bytes, known);
  return known;
}
