import type { Context } from '../context.ts';
import { contracts } from '../contracts/self-service/publishers.ts';
import { ApiError } from '../errors.ts';
import { findPublisher } from '../registry/changes.ts';
import { isGivenUp, permissionsOf, publisherFor } from '../registry/publishers.ts';
import { createPublisher, editPublisher, whyNotFree } from '../registry/profiles.ts';
import type { PublisherRecord } from '../registry/records.ts';
import { peopleRoute } from './people.ts';

export const publisherRoutes = [
  peopleRoute(contracts.validatePublisher, async ({ query, context }) => {
    const reason = await whyNotFree(context, query.username);
    if (reason !== undefined) throw new ApiError('invalid_request', { message: reason });
    return { isAvailable: true as const };
  }),
  peopleRoute(contracts.createPublisher, async ({ body, caller, context }) =>
    publisherFor(caller, await createPublisher(context, caller, body)),
  ),
  peopleRoute(contracts.getPublisher, async ({ path, caller, context }) =>
    publisherFor(caller, await publisherAt(context, path.publisherId)),
  ),
  peopleRoute(contracts.updatePublisher, async ({ path, body, caller, context }) =>
    publisherFor(caller, (await editPublisher(context, caller, path.publisherId, body)).result),
  ),
  peopleRoute(contracts.getPermissionOnPublisher, async ({ path, caller, context }) =>
    permissionsOf(caller, await publisherAt(context, path.publisherId)),
  ),
];

export async function publisherAt(context: Context, publisherId: string): Promise<PublisherRecord> {
  const publisher = await findPublisher(context, publisherId);
  if (!publisher || isGivenUp(publisher)) throw new ApiError('publisher_not_found');
  return publisher;
}
