import type { IncomingMessage } from 'node:http';
import { S3Error } from './s3-error.ts';
import type { ObjectName } from './s3-objects.ts';

/* Reads a request to S3: the object, the part of it, and the headers to store with it. */

export interface Target extends ObjectName {
  versionId: string | undefined;
}

/** Anyone may read the current objects under these: on a deployed stage the distribution serves them. */
const publicPrefixes = ['archives/', 'images/', 'index/', 'pages/', 'status/'];

const maxKeyBytes = 1024;

export function targetOf(path: string, query: URLSearchParams): Target {
  const [, bucket = '', ...segments] = path.split('/');
  const key = segments.map(decodeURIComponent).join('/');
  if (Buffer.byteLength(key) > maxKeyBytes)
    throw new S3Error(400, 'KeyTooLongError', 'Your key is too long.');
  return { bucket, key, versionId: query.get('versionId') ?? undefined };
}

/** For all keys, page by page. */
export function isListing(query: URLSearchParams): boolean {
  const others = ['delimiter', 'encoding-type'].filter((name) => query.has(name));
  return query.get('list-type') === '2' && others.length === 0;
}

export function isPublicRead({ method }: IncomingMessage, { key, versionId }: Target): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && versionId === undefined && publicPrefixes.some((prefix) => key.startsWith(prefix));
}

/** Undefined for a range that S3 ignores. */
export function partOf(range: string, sizeBytes: number): { start: number; end: number } | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (from === '' && to === '') return undefined;
  const start = from === '' ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const end = from === '' || to === '' ? sizeBytes : Math.min(sizeBytes, Number(to) + 1);
  if (start >= sizeBytes || end <= start)
    throw new S3Error(416, 'InvalidRange', 'The requested range is not satisfiable');
  return { start, end };
}

const keptHeaders = ['content-type', 'cache-control', 'content-encoding', 'content-disposition'];

export function storedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => keptHeaders.includes(name) || name.startsWith('x-amz-meta-'),
  );
  return { 'content-type': 'binary/octet-stream', ...Object.fromEntries(kept) } as Record<string, string>;
}
