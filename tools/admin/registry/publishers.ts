import { ApiError } from '../../../lib/errors.ts';
import type { Changed } from '../../../lib/registry/changes.ts';
import * as members from '../../../lib/registry/members.ts';
import * as profiles from '../../../lib/registry/profiles.ts';
import type { PublisherRecord, Operator } from '../../../lib/registry/records.ts';
import { newContext, readPublisher } from './administration.ts';

/** Creates a publisher without members; false if the ID is taken. */
export function createPublisher(
  operator: Operator,
  fields: Pick<PublisherRecord, 'id' | 'name' | 'website'>,
): Promise<boolean> {
  return profiles.createPublisher(newContext(), operator, fields).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'publisher_id_taken') return false;
      throw error;
    },
  );
}

export function showPublisher(publisherId: string): Promise<PublisherRecord> {
  return readPublisher(newContext(), publisherId);
}

/** Changes a publisher's own description: undefined keeps a field, null clears it. */
export function editPublisher(
  operator: Operator,
  id: string,
  fields: profiles.Profile,
): Promise<Changed<PublisherRecord>> {
  return profiles.editPublisher(newContext(), operator, id, fields);
}

type Options = Parameters<typeof members.removeMember>[4];

/** Adds a member, by default with the role `member`, or changes the data of one. */
export function putMember(
  operator: Operator,
  publisherId: string,
  userId: string,
  changes: Parameters<typeof members.putMember>[4],
  options?: Options,
): Promise<PublisherRecord> {
  const put = members.putMember(newContext(), operator, publisherId, userId, changes, options);
  return put.then(({ result }) => result, insisting);
}

/** Removes a member. A user who isn't one is an error, because the id is most likely mistyped. */
export function removeMember(
  operator: Operator,
  publisherId: string,
  userId: string,
  options?: Options,
): Promise<PublisherRecord> {
  const removed = members.removeMember(newContext(), operator, publisherId, userId, options);
  return removed.then(({ result }) => result.publisher, insisting);
}

function insisting(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'last_owner') throw error;
  throw error.with({ message: error.message.replace(/\.$/, ', or insist with --force.') });
}
