import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { S3Event } from 'aws-lambda';

interface Bucket {
  url: string;
  stop: () => Promise<void>;
  onObjectCreated: (listener: (event: S3Event) => void) => void;
}

export type Finalizer = (
  event: S3Event,
  context: { awsRequestId: string; getRemainingTimeInMillis: () => number },
) => Promise<void>;

const limitMs = 300_000;

/** As Lambda retries an asynchronous event. */
const maxInvocations = 3;

/**
 * Lets the embedded S3 call the finalizer as S3 calls the deployed one, for each object that is put under `staging/`; again
 * if it fails. serverless-offline has no S3 events.
 */
export function finalizeOnUpload(bucket: Bucket, load: () => Promise<Finalizer>): Bucket {
  const running = new Set<Promise<void>>();
  bucket.onObjectCreated((event) => {
    if (!event.Records.every(({ s3 }) => s3.object.key.startsWith('staging/'))) return;
    const work = invoke(event, load).finally(() => running.delete(work));
    running.add(work);
  });
  const stop = async () => {
    await Promise.all(running);
    await bucket.stop();
  };
  return { ...bucket, stop };
}

/** Tells a queue of each archive that is published, as S3 does. */
export function queueOnPublish(bucket: Bucket, queue: { send: (body: string) => void }): void {
  bucket.onObjectCreated((event) => {
    if (event.Records.every(({ s3 }) => s3.object.key.startsWith('archives/')))
      queue.send(JSON.stringify(event));
  });
}

/** Never throws: the handler has logged its own failure. */
async function invoke(event: S3Event, load: () => Promise<Finalizer>): Promise<void> {
  const end = Date.now() + limitMs;
  const awsRequestId = randomUUID();
  for (let invocation = 1; invocation <= maxInvocations; invocation += 1) {
    const isDone = await load()
      .then((handler) => handler(event, { awsRequestId, getRemainingTimeInMillis: () => end - Date.now() }))
      .then(
        () => true,
        () => false,
      );
    if (isDone) return;
  }
}

/** The handler of a function, from its bundle. */
export async function loadFunction<Handler>(name: string): Promise<Handler> {
  const { handler } = await import(pathToFileURL(resolve(`dist/${name}/index.js`)).href);
  return handler;
}
