import { setTimeout as pause } from 'node:timers/promises';
import {
  CloudFrontClient,
  CreateInvalidationCommand,
  TooManyInvalidationsInProgress,
  waitUntilInvalidationCompleted,
} from '@aws-sdk/client-cloudfront';

/** CloudFront works on at most 15 paths with wildcards at a time, those of other invalidations included. */
const maxWildcards = 15;
const maxWaitSeconds = 900;
const pauseMs = 10_000;

/** Makes the distribution drop its copies below the folders, and waits until it has. */
export async function invalidate(
  DistributionId: string,
  folders: readonly string[],
  progress: (done: number) => void,
): Promise<void> {
  const client = new CloudFrontClient({});
  for (let done = 0; done < folders.length; done += maxWildcards) {
    progress(done);
    const paths = folders.slice(done, done + maxWildcards).map((folder) => `/${folder}*`);
    const Id = await create(client, DistributionId, paths);
    await waitUntilInvalidationCompleted({ client, maxWaitTime: maxWaitSeconds }, { DistributionId, Id });
  }
}

async function create(
  client: CloudFrontClient,
  DistributionId: string,
  Items: string[],
): Promise<string | undefined> {
  const CallerReference = crypto.randomUUID();
  const InvalidationBatch = { CallerReference, Paths: { Quantity: Items.length, Items } };
  const endsAt = Date.now() + maxWaitSeconds * 1000;
  for (;;) {
    try {
      const { Invalidation } = await client.send(
        new CreateInvalidationCommand({ DistributionId, InvalidationBatch }),
      );
      return Invalidation?.Id;
    } catch (error) {
      if (!(error instanceof TooManyInvalidationsInProgress) || Date.now() > endsAt) throw error;
    }
    await pause(pauseMs);
  }
}
