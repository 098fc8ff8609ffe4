import { hash } from 'node:crypto';
import { createSecret, isSecret } from '@node-registry/registry-rules/personal-access-tokens';
import { type Caller, memberIdOf } from '../caller.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { absent, onRevision, withChanges } from '../store/items.ts';
import { invitationKey } from '../store/keys.ts';
import { queryAll } from '../store/read.ts';
import { deleting, putting, updating } from '../store/write.ts';
import { changeOf } from './changes.ts';
import { listing, memberOf, memberWithId } from './publishers.ts';
import {
  type InvitationRecord,
  invitationRecord,
  type Member,
  type MemberChanges,
  type PublisherRecord,
} from './records.ts';
import { credentialsIn, standing } from './tokens.ts';

/*
 * An invitation is a secret that makes its first bearer a member. Only its hash is stored. It counts as long as who made it
 * is an owner.
 */

const prefix = 'nri_';
const lifetimeMs = 7 * 24 * 60 * 60 * 1000;
const maxOpen = 20;
/** Each write of a publisher, and each publish, reads them all. */
const maxMembers = 100;

function isOpen({ expires_at }: InvitationRecord): boolean {
  return expires_at > new Date().toISOString();
}

/** The invitation, with the secret that is shown once. */
export async function invite(
  context: Context,
  by: Caller,
  publisherId: string,
  fields: Pick<InvitationRecord, 'role' | 'user_id' | 'email'>,
): Promise<{ record: InvitationRecord; invitation: string }> {
  const secret = createSecret(prefix);
  const about = { publisherId, action: 'invite member' as const, reads: credentialsIn };
  const { result } = await changeOf(context, by, about, (publisher, { invitations }, { id, now }, before) => {
    if (invitations.map(invitationRecord).filter(isOpen).length >= maxOpen) {
      const message = `A publisher has at most ${maxOpen} open invitations. Withdraw one first.`;
      throw new ApiError('too_many_requests', { message });
    }
    const record: InvitationRecord = {
      ...invitationKey(publisher.id, hashOf(secret)),
      ...fields,
      id,
      made_by: memberIdOf(by.userId),
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + lifetimeMs).toISOString(),
      ttl: Math.ceil((now + lifetimeMs) / 1000),
      revision: 1,
    };
    return {
      change: { of: publisher, action: 'invitation create', subject: id, detail: fields.role },
      // Two at a time would pass the bound, and a removal of who makes it would miss it.
      writes: [putting(record, absent), ...standing(publisher, before)],
      result: { record, invitation: `${publisher.id}/${secret}` },
    };
  });
  return result;
}

function hashOf(secret: string): string {
  return hash('sha256', secret);
}

export async function listInvitations(context: Context, publisherId: string): Promise<InvitationRecord[]> {
  const items = await queryAll(context, invitationKey(publisherId, ''));
  return items
    .map(invitationRecord)
    .filter(isOpen)
    .sort((a, b) => a.created_at.localeCompare(b.created_at));
}

export async function withdrawInvitation(
  context: Context,
  by: Caller,
  publisherId: string,
  id: string,
): Promise<void> {
  const about = { publisherId, action: 'withdraw invitation' as const, reads: credentialsIn };
  await changeOf(context, by, about, (publisher, { invitations }) => {
    const record = invitations.map(invitationRecord).find((each) => each.id === id);
    if (!record) throw new ApiError('not_found');
    return {
      change: { of: publisher, action: 'invitation withdraw', subject: id },
      writes: [deleting(record, onRevision(record))],
      result: undefined,
    };
  });
}

/** Makes the caller a member, once. Whatever is wrong with an invitation, its bearer learns the same. */
export async function accept(
  context: Context,
  by: Caller,
  invitation: string,
  told: Omit<MemberChanges, 'role'>,
): Promise<PublisherRecord> {
  const [publisherId = '', secret = ''] = invitation.split('/');
  if (!/^[\w.-]{1,100}$/.test(publisherId) || !isSecret(secret, prefix)) throw new ApiError('not_found');
  const reads = (id: string) => ({ item: invitationKey(id, hashOf(secret)) });
  const about = { publisherId, action: 'accept invitation' as const, reads };
  const joining = changeOf(context, by, about, (publisher, { item }) => {
    const record = invitationRecord(item);
    if (!record || !isFor(record, publisher, { ...by, email: told.email })) throw new ApiError('not_found');
    const known = memberOf(publisher, by.userId);
    if (!known && Object.keys(publisher.members).length >= maxMembers) {
      const message = `A publisher has at most ${maxMembers} members.`;
      throw new ApiError('too_many_requests', { message });
    }
    const role = known?.role === 'owner' ? 'owner' : record.role;
    const member = withChanges<Member>({ ...known, role }, told);
    const changes = { members: { ...publisher.members, [by.userId]: member } };
    return {
      change: { of: publisher, action: 'invitation accept', subject: record.id, detail: record.role },
      writes: [
        updating(publisher, changes, onRevision(publisher)),
        deleting(record, onRevision(record)),
        listing(by.userId, publisher.id),
      ],
      result: withChanges(publisher, changes),
    };
  });
  const { result } = await joining.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'publisher_not_found') throw new ApiError('not_found');
    throw error;
  });
  return result;
}

function isFor(
  invitation: InvitationRecord,
  publisher: PublisherRecord,
  { userId, email }: { userId: string; email: string | undefined },
): boolean {
  const { user_id, email: wanted, made_by } = invitation;
  const isOwners = memberWithId(publisher, made_by)?.[1].role === 'owner';
  const isUsers = user_id === undefined || user_id === userId;
  const isReaders = wanted === undefined || inLowerCase(wanted) === inLowerCase(email ?? '');
  return isOpen(invitation) && isOwners && isUsers && isReaders;
}

/** Of ASCII only: another letter may have an ASCII one as its lower case. */
function inLowerCase(address: string): string {
  return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
