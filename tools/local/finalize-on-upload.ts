import type { S3Event } from 'aws-lambda';
import { type Invocation, invocationOf } from './invocation.ts';

interface Bucket {
  url: string;
  stop: () => Promise<void>;
  onObjectCreated: (listener: (event: S3Event) => void) => void;
}

export type Finalizer = (event: S3Event, invocation: Invocation) => Promise<void>;

const limitMs = 300_000;

/** As Lambda retries an asynchronous event. */
const maxInvocations = 3;

/**
 * Lets the embedded S3 call the finalizer as S3 calls the deployed one, for each object put under `staging/`,
 * with retries after failures.
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

/** Never throws: the handler has logged its own failure. */
async function invoke(event: S3Event, load: () => Promise<Finalizer>): Promise<void> {
  // A retry has the id of the first invocation.
  const invocation = invocationOf(limitMs);
  for (let count = 1; count <= maxInvocations; count += 1) {
    const isDone = await load()
      .then((handler) => handler(event, invocation))
      .then(
        () => true,
        () => false,
      );
    if (isDone) return;
  }
}
