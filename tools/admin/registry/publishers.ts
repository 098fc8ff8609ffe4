import type { PublisherRole } from '../../../lib/schemas/publisher.ts';
import { newDeadline, untilWritten } from './administration.ts';
import { toAttributes } from '../../../lib/store/attribute-values.ts';
import { condition, update } from '../../../lib/store/expressions.ts';
import { publisherKey } from '../../../lib/store/keys.ts';
import { type Member, type PublisherRecord, publisherOf } from '../../../lib/registry/publishers.ts';
import { Refusal } from './refusal.ts';
import { readTogether, tableName, transact } from '../../../lib/store/table.ts';

interface NewPublisher {
  id: string;
  name: string;
  description?: string | undefined;
  website?: string | undefined;
}

/** Creates a publisher without members; false where the id is taken. */
export async function createPublisher(publisher: NewPublisher): Promise<boolean> {
  const record = {
    ...publisherKey(publisher.id),
    ...publisher,
    createdAt: new Date().toISOString(),
    members: {},
    revision: 1,
  };
  const put = { TableName: tableName, Item: toAttributes(record), ...condition(['pk', 'absent']) };
  return (await transact([{ Put: put }], newDeadline())) === undefined;
}

export async function showPublisher(publisherId: string): Promise<PublisherRecord> {
  const [item] = await readTogether(newDeadline(), publisherKey(publisherId));
  if (!item) throw new Refusal(`There is no publisher "${publisherId}".`);
  return publisherOf(item);
}

export function banPublisher(publisherId: string, reason: string): Promise<PublisherRecord> {
  return changePublisher(publisherId, () => ({ banned: true, ban_reason: reason }));
}

export function unbanPublisher(publisherId: string): Promise<PublisherRecord> {
  return changePublisher(publisherId, () => ({ banned: null, ban_reason: null }));
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

/** Adds a member, with the role `member` unless another is said, or changes what is said of one. */
export function putMember(
  publisherId: string,
  userId: string,
  { role, name, email }: MemberChanges,
  { force }: Force = {},
): Promise<PublisherRecord> {
  return changePublisher(publisherId, (publisher) => {
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
}

/** Takes a member out; someone who is not one is an error, since it is most likely a mistyped id. */
export function removeMember(
  publisherId: string,
  userId: string,
  { force }: Force = {},
): Promise<PublisherRecord> {
  return changePublisher(publisherId, (publisher) => {
    if (!memberOf(publisher, userId))
      throw new Refusal(`The publisher "${publisherId}" has no member "${userId}".`);
    if (!force) requireAnotherOwner(publisher, userId);
    const { [userId]: _, ...members } = publisher.members;
    return { members };
  });
}

function memberOf({ members }: PublisherRecord, userId: string): Member | undefined {
  return Object.hasOwn(members, userId) ? members[userId] : undefined;
}

function requireAnotherOwner(publisher: PublisherRecord, userId: string): void {
  const isOwner = memberOf(publisher, userId)?.role === 'owner';
  const owners = Object.values(publisher.members).filter(({ role }) => role === 'owner');
  if (!isOwner || owners.length > 1) return;
  throw new Refusal(
    `"${userId}" is the last owner of "${publisher.id}", and without one nobody can edit its nodes: add another owner first, or insist with --force.`,
  );
}

/** The one way to write a publisher: every write names the revision it was decided on, and makes the next. */
function changePublisher(
  publisherId: string,
  decide: (publisher: PublisherRecord) => Record<string, unknown>,
): Promise<PublisherRecord> {
  const key = publisherKey(publisherId);
  return untilWritten(async (deadline) => {
    const [item] = await readTogether(deadline, key);
    if (!item) throw new Refusal(`There is no publisher "${publisherId}".`);
    const changes = decide(publisherOf(item));
    const expression = update(changes, ['revision', '=', item.revision]);
    const failed = await transact(
      [{ Update: { TableName: tableName, Key: toAttributes(key), ...expression } }],
      deadline,
    );
    return failed ? undefined : publisherOf({ ...item, ...changes });
  });
}
