import { isDeepStrictEqual } from 'node:util';
import { memberOf } from '../../../lib/registry/publishers.ts';
import type { Member, PublisherRecord } from '../../../lib/registry/records.ts';
import type { PublisherRole } from '@node-registry/registry-rules/schemas/publisher';
import { absent, type Changes, onRevision, withChanges } from '../../../lib/store/items.ts';
import { publisherKey } from '../../../lib/store/keys.ts';
import { putting, updating } from '../../../lib/store/write.ts';
import {
  administer,
  type Changed,
  newContext,
  publisherIn,
  readPublisher,
  Rejection,
} from './administration.ts';

/** Creates a publisher without members; false if the ID is taken. */
export function createPublisher(
  actor: string,
  fields: Pick<PublisherRecord, 'id' | 'name' | 'website'>,
): Promise<boolean> {
  const key = publisherKey(fields.id);
  const createdAt = new Date().toISOString();
  const record: PublisherRecord = { ...key, ...fields, createdAt, members: {}, revision: 1 };
  const change = { of: key, action: 'publisher create', subject: fields.id };
  return administer(actor, { first: [key] }, ([item]) =>
    item ? { done: false } : { change, writes: [putting(record, absent)], result: true },
  ).then(({ changed }) => changed);
}

export function showPublisher(publisherId: string): Promise<PublisherRecord> {
  return readPublisher(newContext(), publisherId);
}

type PublisherFields = Pick<
  Changes<PublisherRecord>,
  'name' | 'description' | 'logo' | 'source_code_repo' | 'support' | 'website'
>;

/** Changes a publisher's own description: undefined keeps a field, null clears it. */
export function editPublisher(
  actor: string,
  id: string,
  fields: PublisherFields,
): Promise<Changed<PublisherRecord>> {
  const detail = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const change = { action: 'publisher update', subject: id, detail: detail.join(', ') };
  return changePublisher(actor, id, change, (publisher) =>
    isDeepStrictEqual(withChanges(publisher, fields), publisher) ? undefined : fields,
  );
}

interface MemberChanges {
  role?: PublisherRole | undefined;
  name?: string | undefined;
  email?: string | undefined;
}

interface Force {
  /** Whether a publisher may be left without an owner. */
  force?: boolean | undefined;
}

/** Adds a member, by default with the role `member`, or changes the data of one. */
export async function putMember(
  actor: string,
  publisherId: string,
  userId: string,
  { role, name, email }: MemberChanges,
  { force }: Force = {},
): Promise<PublisherRecord> {
  const change = { action: 'member add', subject: userId, detail: role };
  const { result } = await changePublisher(actor, publisherId, change, (publisher) => {
    const known = memberOf(publisher, userId);
    const member: Member = {
      ...known,
      role: role ?? known?.role ?? 'member',
      ...(name !== undefined && { name }),
      ...(email !== undefined && { email }),
    };
    if (member.role !== 'owner' && !force) requireAnotherOwner(publisher, userId);
    return { members: { ...publisher.members, [userId]: member } };
  });
  return result;
}

/** Removes a member. A user who isn't one is an error, because the id is most likely mistyped. */
export async function removeMember(
  actor: string,
  publisherId: string,
  userId: string,
  { force }: Force = {},
  change = { action: 'member remove', subject: userId },
): Promise<PublisherRecord> {
  const { result } = await changePublisher(actor, publisherId, change, (publisher) => {
    if (!memberOf(publisher, userId))
      throw new Rejection(`The publisher "${publisherId}" has no member "${userId}".`);
    if (!force) requireAnotherOwner(publisher, userId);
    const { [userId]: _, ...members } = publisher.members;
    return { members };
  });
  return result;
}

export function isLastOwner(publisher: PublisherRecord, userId: string): boolean {
  const owners = Object.values(publisher.members).filter(({ role }) => role === 'owner');
  return memberOf(publisher, userId)?.role === 'owner' && owners.length === 1;
}

function requireAnotherOwner(publisher: PublisherRecord, userId: string): void {
  if (!isLastOwner(publisher, userId)) return;
  throw new Rejection(
    `"${userId}" is the last owner of "${publisher.id}", and without an owner its nodes can't be edited: add another owner first, or insist with --force.`,
  );
}

export type PublisherChange = [
  change: { action: string; subject: string; detail?: string | undefined },
  decision: (publisher: PublisherRecord) => Changes<PublisherRecord> | undefined,
];

/** The only way to change a publisher: every write depends on the revision it was decided on. */
export function changePublisher(
  actor: string,
  publisherId: string,
  ...[change, decision]: PublisherChange
): Promise<Changed<PublisherRecord>> {
  const of = publisherKey(publisherId);
  return administer(actor, { first: [of] }, ([item]) => {
    const publisher = publisherIn(item, publisherId);
    const changes = decision(publisher);
    if (!changes) return { done: publisher };
    const writes = [updating<PublisherRecord>(of, changes, onRevision(publisher))];
    return { change: { of, ...change }, writes, result: withChanges(publisher, changes) };
  });
}
