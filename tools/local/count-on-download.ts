import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import type { S3Event } from 'aws-lambda';
import { type Invocation, invocationOf } from './invocation.ts';

/** A read of a published file, as the distribution would have served it. */
export interface PublicRead {
  method: string;
  /** Without the bucket. */
  stem: string;
  status: number;
  agent: string;
  rangeStart: string;
  bytes: string;
}

interface Bucket {
  onPublicRead: (listener: (read: PublicRead) => void) => void;
}

type Counter = (event: Partial<S3Event>, invocation: Invocation) => Promise<void>;

const limitMs = 300_000;
const fields =
  'date time cs-method cs-uri-stem sc-status cs(User-Agent) sc-range-start sc-content-len sc-bytes';

/**
 * Writes each download into a log of its own, as a distribution does for many, and lets the function count it
 * and add it up at once. On a stage that takes a day.
 */
export function countOnDownload(
  bucket: Bucket,
  logBucket: string,
  load: () => Promise<Counter>,
): { stop: () => Promise<void> } {
  let last: Promise<unknown> = Promise.resolve();
  bucket.onPublicRead((read) => {
    if (read.stem.startsWith('/archives/'))
      last = last
        .then(() => count(read))
        .catch((error: Error) => process.stderr.write(`A download was not counted: ${error.message}\n`));
  });
  const count = async ({ method, stem, status, agent, rangeStart, bytes }: PublicRead) => {
    const [date = '', time = ''] = new Date().toISOString().split('T');
    const how = [status, encodeURIComponent(agent), rangeStart, bytes, bytes];
    const values = [date, time.slice(0, 8), method, stem, ...how];
    const Body = gzipSync(`#Version: 1.0\n#Fields: ${fields}\n${values.join('\t')}\n`);
    const Key = `downloads/LOCAL.${date}-${time.slice(0, 2)}.${randomUUID()}.gz`;
    const { s3 } = await import('../../lib/bucket/bucket.ts');
    await s3().send(new PutObjectCommand({ Bucket: logBucket, Key, Body }));
    const handler = await load();
    const Records = [{ s3: { object: { key: Key } } }] as S3Event['Records'];
    await handler({ Records }, invocationOf(limitMs));
    await handler({}, invocationOf(limitMs));
  };
  return { stop: async () => void (await last) };
}
