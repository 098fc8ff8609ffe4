import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { S3Error } from './s3-error.ts';

/* S3's checks of request bodies, and its XML responses. */

interface Sums {
  sizeBytes: number;
  md5: Buffer;
  sha256: Buffer;
  crc32: Buffer;
}

/** Writes a body into a file, and returns its digests. */
export async function store(request: IncomingMessage, file: string): Promise<Sums> {
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  let [sizeBytes, crc] = [0, 0];
  const measure = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      for (const hash of [md5, sha256]) hash.update(chunk);
      crc = crc32(chunk, crc);
      sizeBytes += chunk.length;
      yield chunk;
    }
  };
  await pipeline(request, measure, createWriteStream(file));
  return { sizeBytes, md5: md5.digest(), sha256: sha256.digest(), crc32: bytesOf(crc) };
}

function bytesOf(crc: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes;
}

/** S3 accepts tags only with a checksum of the body. */
export async function checkedText(request: IncomingMessage): Promise<string> {
  const body = await buffer(request);
  if (request.headers['x-amz-checksum-crc32'] !== bytesOf(crc32(body)).toString('base64'))
    throw new S3Error(400, 'BadDigest', 'The crc32 is not that of the body.');
  return body.toString();
}

export function tagsIn(text: string): Record<string, string> {
  const pairs = text.matchAll(/<Key>([^<]*)<\/Key><Value>([^<]*)<\/Value>/g);
  return Object.fromEntries([...pairs].map(([, key = '', value = '']) => [key, value]));
}

/** All digests in the request, in its headers or in its signed URL, must match the body. */
export function checkSums(
  request: IncomingMessage,
  query: URLSearchParams,
  digest: string,
  sums: Sums,
): void {
  if (digest !== 'UNSIGNED-PAYLOAD' && digest !== sums.sha256.toString('hex'))
    throw new S3Error(400, 'XAmzContentSHA256Mismatch', 'The signed digest is not that of the body.');
  const { crc32: crc, sha256 } = sums;
  const named = { 'x-amz-checksum-crc32': crc, 'x-amz-checksum-sha256': sha256 };
  for (const [name, sum] of Object.entries(named)) {
    const found = sum.toString('base64');
    if ((request.headers[name] ?? query.get(name) ?? found) !== found)
      throw new S3Error(400, 'BadDigest', `The ${name} is not that of the body.`);
  }
}

export function xml(name: string, fields: Record<string, unknown>, more = ''): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(name, fields, more)}`;
}

export function element(name: string, fields: Record<string, unknown>, more = ''): string {
  const inner = Object.entries(fields).map(
    ([field, value]) => `<${field}>${escaped(String(value))}</${field}>`,
  );
  return `<${name}>${inner.join('')}${more}</${name}>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"\p{Cc}]/gu, (character) => `&#${character.charCodeAt(0)};`);
}
