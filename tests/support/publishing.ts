import { join } from 'node:path';
import { beforeAll } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import { directory } from '@node-registry/testing/folders';
import { consumeQueue } from '../../tools/local/consume-queue.ts';
import { demo } from '../../tools/local/demo.ts';
import type { Invocation } from '../../tools/local/invocation.ts';
import { startS3 } from '../../tools/local/s3.ts';
import { queues } from '../../tools/local/queues.ts';
import { seed } from '../../tools/local/seed.ts';
import { startSqs } from '../../tools/local/sqs.ts';
import { startHttpApi } from './http-api.ts';
import { untilEnd } from './serve.ts';
import { bearer } from './tokens.ts';
import { setVariables } from './variables.ts';

/** For a file's top level: the registry with its own S3, whose events this process receives and can lose. */
export async function startRegistry() {
  const sqs = await startSqs(0, queues);
  const uploads = sqs.queue('finalize');
  const bucket = await startS3(0, join(directory, 's3'), String(process.env.BUCKET_NAME), { uploads });
  process.env.AWS_ENDPOINT_URL_S3 = bucket.url;
  const events = { areLost: false, ofArchivesAreLost: false };
  const finalize = async (event: SQSEvent, context: Invocation) => {
    if (events.areLost) return undefined;
    const { handler } = await import('../../functions/finalize-upload.ts');
    return handler(event, context);
  };
  const extract = async (event: SQSEvent, context: Invocation) => {
    if (events.ofArchivesAreLost) return undefined;
    const { handler } = await import('../../functions/extract-host-nodes.ts');
    return handler(event, context);
  };
  setVariables({ WORK_QUEUES: sqs.queueUrl('') });
  const mapping = { timeoutMs: 120_000, batchSize: 1, maximumConcurrency: 2 };
  const consumers = Object.entries({ finalize, extract }).map(([lane, handler]) =>
    consumeQueue({ queue: sqs.queue(lane), load: async () => handler, ...mapping }),
  );
  const api = await startHttpApi();
  beforeAll(seed);
  for (const part of [bucket, sqs, ...consumers]) untilEnd(part);
  /** What the owner of the demo publisher sets to use it. */
  const access = {
    NODE_REGISTRY_TOKEN: demo.personalAccessToken,
    NODE_REGISTRY_ACCESS_TOKEN: bearer(demo.owner).replace('Bearer ', ''),
    NODE_REGISTRY_URL: api.url,
  };
  return { api, access, events, directory };
}
