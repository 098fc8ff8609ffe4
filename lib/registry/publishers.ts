import type { Caller } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { Publisher } from '@node-registry/registry-rules/schemas/publisher';
import type { Item } from '../store/items.ts';
import { type Member, type PublisherRecord, publisherRecord, pickFields } from './records.ts';

export function requirePublisher(item: Item | undefined): PublisherRecord {
  if (!item) throw new ApiError('publisher_not_found');
  return publisherRecord(item);
}

const takenDays = 90;

/** The publisher's id, if given in another spelling or, for a time, as its id before a rename or a merge. */
export function movedTo(item: Item | undefined, asked: string): string | undefined {
  const { id, moved_to, moved_at = '' } = publisherRecord(item) ?? {};
  if (moved_to === undefined) return id === asked ? undefined : id;
  if (Date.now() - Date.parse(moved_at) < takenDays * 24 * 60 * 60 * 1000) return moved_to;
  const message = `This publisher is "${moved_to}" now, and its old id is no longer accepted.`;
  throw new ApiError('publisher_not_found', { message });
}

/** Owners edit their publisher unless it is banned; admins edit every publisher. */
export function requireOwner(publisher: PublisherRecord, caller: Caller): void {
  if (caller.isAdmin) return;
  if (memberOf(publisher, caller.userId)?.role !== 'owner') throw new ApiError('forbidden');
  requireNotBanned(publisher);
}

export function requireMember(publisher: PublisherRecord, userId: string): void {
  if (!memberOf(publisher, userId)) throw new ApiError('forbidden');
}

export function requireNotBanned(publisher: PublisherRecord): void {
  if (publisher.banned) throw new ApiError('publisher_banned');
}

/** A user id is free text, and may be the name of a property that every object has. */
export function memberOf({ members }: PublisherRecord, userId: string): Member | undefined {
  return Object.hasOwn(members, userId) ? members[userId] : undefined;
}

/** A publisher as its owners and admins see it: with the e-mail addresses. */
export function publisherView({ members, ...publisher }: PublisherRecord): Publisher {
  const entries = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return pickFields<Publisher>({ ...publisher, members: entries.map(memberView) }, Publisher);
}

function memberView([id, { role, email, name }]: [string, Member]) {
  return { id, role, user: { email, id, name } };
}
