import { ApiError } from '../errors.ts';
import type { Publisher, PublisherRole } from '../schemas/publisher.ts';
import type { Item } from '../store/attribute-values.ts';

export interface Member {
  role: PublisherRole;
  name?: string;
  email?: string;
}

export interface PublisherRecord {
  id: string;
  banned: boolean;
  /** For admins only. */
  banReason?: string;
  members: Record<string, Member>;
  profile: Omit<Publisher, 'id' | 'members'>;
}

interface Asker {
  userId: string;
  isAdmin: boolean;
}

export function publisherOf(item: Item): PublisherRecord {
  const { pk: _, sk: __, revision: ___, id, banned, ban_reason: banReason, members, ...profile } = item;
  return {
    id: String(id),
    banned: banned === true,
    ...(typeof banReason === 'string' && { banReason }),
    members: members as Record<string, Member>,
    profile: profile as PublisherRecord['profile'],
  };
}

export function requirePublisher(item: Item | undefined): PublisherRecord {
  if (!item) throw new ApiError('publisher_not_found');
  return publisherOf(item);
}

/** Owners edit; admins edit everything, banned or not. */
export function requireOwner(publisher: PublisherRecord, asker: Asker): void {
  if (asker.isAdmin) return;
  if (publisher.members[asker.userId]?.role !== 'owner') throw new ApiError('forbidden');
  requireNotBanned(publisher);
}

export function requireMember(publisher: PublisherRecord, userId: string): void {
  if (!Object.hasOwn(publisher.members, userId)) throw new ApiError('forbidden');
}

export function requireNotBanned(publisher: PublisherRecord): void {
  if (publisher.banned) throw new ApiError('publisher_banned');
}

/** A publisher as its own members and admins see it: with the e-mail addresses. */
export function publisherView({ id, members, profile }: PublisherRecord): Publisher {
  return {
    ...profile,
    id,
    members: Object.keys(members)
      .sort()
      .map((userId) => memberView(userId, members[userId] as Member)),
  };
}

function memberView(userId: string, { role, ...person }: Member) {
  return { id: userId, role, user: { id: userId, ...person } };
}
