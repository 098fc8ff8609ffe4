import { Publisher } from '@node-registry/registry-rules/schemas/publisher';
import { type Caller, memberIdOf } from '../caller.ts';
import type { Context } from '../context.ts';
import { always, type Item } from '../store/items.ts';
import { membershipKey, publisherKey } from '../store/keys.ts';
import { queryAll, readAll } from '../store/read.ts';
import { deleting, updating, type Write } from '../store/write.ts';
import { dayMs } from '../windows.ts';
import {
  type Member,
  type MembershipRecord,
  membershipRecord,
  type PublisherRecord,
  pickFields,
  publisherRecord,
} from './records.ts';

const takenDays = 90;

/** Whether a publisher was renamed or merged so long ago that its old id no longer means the new one. */
export function isGivenUp({ moved_to, moved_at = '' }: PublisherRecord): boolean {
  return moved_to !== undefined && Date.now() - Date.parse(moved_at) >= takenDays * dayMs;
}

/** The publisher's id, if given in another spelling or, for a time, as its id before a rename or a merge. */
export function movedTo(publisher: PublisherRecord | undefined, asked: string): string | undefined {
  if (!publisher || isGivenUp(publisher)) return undefined;
  const id = publisher.moved_to ?? publisher.id;
  return id === asked ? undefined : id;
}

class PublisherMoved extends Error {
  readonly id: string;
  constructor(id: string) {
    super(`The publisher is "${id}" now.`);
    this.id = id;
  }
}

/** The publisher of the id that was asked for. If it has another one now, `underPresentId` asks again. */
export function presentPublisher(item: Item | undefined, asked: string): PublisherRecord | undefined {
  const publisher = publisherRecord(item);
  const moved = movedTo(publisher, asked);
  if (moved !== undefined) throw new PublisherMoved(moved);
  return publisher;
}

/** Serves a request about a publisher under the id that it has now. */
export async function underPresentId<Result>(
  publisherId: string,
  serve: (publisherId: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await serve(publisherId);
  } catch (error) {
    if (error instanceof PublisherMoved) return underPresentId(error.id, serve);
    throw error;
  }
}

/** A user id is free text, and may be the name of a property that every object has. */
export function memberOf({ members }: PublisherRecord, userId: string): Member | undefined {
  return Object.hasOwn(members, userId) ? members[userId] : undefined;
}

/** A publisher as its owners and admins see it: with the e-mail addresses. */
export function publisherView({ members, ...publisher }: PublisherRecord): Publisher {
  const entries = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return pickFields({ ...publisher, members: entries.map(memberView) }, Publisher);
}

/** A publisher as this caller may see it: members are shown to members, addresses to owners and admins. */
export function publisherFor(caller: Caller | undefined, publisher: PublisherRecord): Publisher {
  const role = caller && memberOf(publisher, caller.userId)?.role;
  const { members = [], ...profile } = publisherView(publisher);
  if (caller?.isAdmin || role === 'owner') return { ...profile, members };
  if (role === undefined) return profile;
  return {
    ...profile,
    members: members.map(({ user: { email: _, ...user }, ...member }) => ({ ...member, user })),
  };
}

export function permissionsOf(caller: Caller, publisher: PublisherRecord) {
  const role = memberOf(publisher, caller.userId)?.role;
  return { canEdit: role === 'owner' || caller.isAdmin, canPublish: role !== undefined || caller.isAdmin };
}

/** The member with an id of `memberIdOf`, as an owner sees it. */
export function memberWithId({ members }: PublisherRecord, memberId: string): [string, Member] | undefined {
  return Object.entries(members).find(([userId]) => memberIdOf(userId) === memberId);
}

export function memberView([userId, { role, email, name }]: [string, Member]) {
  return { id: memberIdOf(userId), role, user: { email, id: userId, name } };
}

export function isLastOwner(publisher: PublisherRecord, userId: string): boolean {
  const owners = Object.values(publisher.members).filter(({ role }) => role === 'owner');
  return memberOf(publisher, userId)?.role === 'owner' && owners.length === 1;
}

/* Which publishers a person is a member of. Members are in the publisher's record: these only lead to it. */

export function listing(userId: string, publisherId: string): Write {
  const key = membershipKey(memberIdOf(userId), publisherId);
  return updating<MembershipRecord>(key, { publisher: publisherId }, always);
}

export function unlisting(userId: string, publisherId: string): Write {
  return deleting(membershipKey(memberIdOf(userId), publisherId), always);
}

/** By id. A publisher that was renamed or merged is listed under its new id. */
export async function publishersOf(context: Context, userId: string): Promise<PublisherRecord[]> {
  const items = await queryAll(context, membershipKey(memberIdOf(userId), ''));
  const found = new Map<string, PublisherRecord>();
  let ids = items.map((item) => membershipRecord(item).publisher);
  while (ids.length > 0) {
    const publishers = (await readAll(context, ids.map(publisherKey))).map(publisherRecord);
    for (const publisher of publishers)
      if (publisher.moved_to === undefined && memberOf(publisher, userId)) found.set(publisher.id, publisher);
    ids = publishers.flatMap(({ moved_to }) => moved_to ?? []);
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
