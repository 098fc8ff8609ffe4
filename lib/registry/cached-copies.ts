import {
  CloudFrontClient,
  CreateInvalidationCommand,
  GetInvalidationCommand,
  TooManyInvalidationsInProgress,
} from '@aws-sdk/client-cloudfront';
import { configured } from '../config.ts';
import { type Context, untilDeadline } from '../context.ts';

const cloudFront = configured(() => new CloudFrontClient({}));

/**
 * Makes the distribution drop its copies of a node's archives, once for each intent, and says whether it has. CloudFront
 * answers a repeated request with what it began before, and works on few such paths at a time.
 */
export async function areCopiesDropped(
  context: Context,
  DistributionId: string,
  CallerReference: string,
  folder: string,
): Promise<boolean> {
  const until = untilDeadline(context);
  const Paths = { Quantity: 1, Items: [`/${folder}*`] };
  const create = new CreateInvalidationCommand({
    DistributionId,
    InvalidationBatch: { CallerReference, Paths },
  });
  try {
    const { Invalidation: begun } = await cloudFront().send(create, until);
    const find = new GetInvalidationCommand({ DistributionId, Id: begun?.Id });
    const { Invalidation: now } = await cloudFront().send(find, until);
    return now?.Status === 'Completed';
  } catch (error) {
    if (error instanceof TooManyInvalidationsInProgress) return false;
    throw error;
  }
}
