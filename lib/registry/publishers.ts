import { Publisher } from '@node-registry/registry-rules/schemas/publisher';
import { type Member, type PublisherRecord, pickFields } from './records.ts';

const takenDays = 90;

/** Whether a publisher was renamed or merged so long ago that its old id no longer means the new one. */
export function isGivenUp({ moved_to, moved_at = '' }: PublisherRecord): boolean {
  return moved_to !== undefined && Date.now() - Date.parse(moved_at) >= takenDays * 24 * 60 * 60 * 1000;
}

/** The publisher's id, if given in another spelling or, for a time, as its id before a rename or a merge. */
export function movedTo(publisher: PublisherRecord | undefined, asked: string): string | undefined {
  if (!publisher || isGivenUp(publisher)) return undefined;
  const id = publisher.moved_to ?? publisher.id;
  return id === asked ? undefined : id;
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
