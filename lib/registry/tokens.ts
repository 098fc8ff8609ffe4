import {
  createPersonalAccessToken,
  hashPersonalAccessToken,
} from '@node-registry/registry-rules/personal-access-tokens';
import { memberIdOf } from '../caller.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { Found } from '../store/decide.ts';
import { absent, type Item, onRevision } from '../store/items.ts';
import { credentialsKey, invitationKey, personalAccessTokenKey, trustKey } from '../store/keys.ts';
import { queryAll } from '../store/read.ts';
import { checking, putting, updating, type Write } from '../store/write.ts';
import { dayMs } from '../windows.ts';
import { changeOf } from './changes.ts';
import {
  type Changed,
  type Actor,
  type CredentialRecord,
  type CredentialsRecord,
  credentialsRecord,
  type PublisherRecord,
  type TokenRecord,
  tokenRecord,
} from './records.ts';

/* Personal access tokens. Only their hashes are stored. */

interface NewToken extends Pick<TokenRecord, 'label' | 'description' | 'node_id' | 'expires_at'> {
  publisherId: string;
}

const maxMade = 25;
/** With those that ended: who ends one, or removes a member, reads them all. */
const maxKept = 1000;
/** A version waits for its upload for a day, and what it was published with counts until then. */
const countingMs = 2 * dayMs;
const keptUntil = (end: number) => Math.ceil((end + countingMs) / 1000);

/** The token is shown once. */
export async function createToken(
  context: Context,
  by: Actor,
  { publisherId, ...fields }: NewToken,
  token = createPersonalAccessToken(),
): Promise<{ record: TokenRecord; token: string }> {
  const made = { publisherId, action: 'create token' as const, reads: credentialsIn };
  const { result } = await changeOf(context, by, made, (publisher, { tokens }, { id, now }, before) => {
    const made_by = makerOf(by, tokens.map(tokenRecord), isUsable);
    const record: TokenRecord = {
      ...personalAccessTokenKey(publisher.id, hashPersonalAccessToken(token)),
      ...fields,
      id,
      created_at: new Date(now).toISOString(),
      ...(made_by && { made_by, ttl: keptUntil(Date.parse(fields.expires_at)) }),
      revision: 1,
    };
    const change = { of: publisher, action: 'token create', subject: id, detail: fields.label };
    const writes = [putting(record, absent), ...standing(publisher, before)];
    return { change, writes, result: { record, token } };
  });
  return result;
}

/** Goes with a new credential. No write of the publisher: the index would write all of its nodes again. */
export function standing(publisher: PublisherRecord, before: Item | undefined): Write[] {
  return [checking(publisher, onRevision(publisher)), counting(publisher.id, before)];
}

/** Also goes with a removal of a member and a merge: one that has not seen a new credential decides again. */
export function counting(publisherId: string, before: Item | undefined): Write {
  const when = onRevision(credentialsRecord(before));
  return updating<CredentialsRecord>(credentialsKey(publisherId), {}, when);
}

/** The member id of who makes another credential, of which a member may have some; undefined for the operator. */
export function makerOf<Record extends CredentialRecord>(
  by: Actor,
  all: readonly Record[],
  works: (record: Record) => boolean,
): string | undefined {
  if ('operator' in by) return undefined;
  const made_by = memberIdOf(by.userId);
  const own = all.filter((each) => each.made_by === made_by);
  if (own.filter(works).length >= maxMade) {
    const message = `A member may have ${maxMade} of these at a time. End one first.`;
    throw new ApiError('too_many_requests', { message });
  }
  if (own.filter(({ ttl = Number.POSITIVE_INFINITY }) => ttl * 1000 > Date.now()).length >= maxKept) {
    const message = `A member may make ${maxKept} of these in a few days. Use one that works, or try again tomorrow.`;
    throw new ApiError('too_many_requests', { message });
  }
  return made_by;
}

/** What people may have made at a publisher, and what lets others in. */
export function credentialsIn(publisherId: string) {
  return {
    tokens: { below: personalAccessTokenKey(publisherId, '') },
    trusts: { below: trustKey(publisherId, '') },
    invitations: { below: invitationKey(publisherId, '') },
  };
}

/** Whether it still publishes something. */
export function isUsable({ revoked_at, expires_at }: TokenRecord): boolean {
  return revoked_at === undefined && expires_at > new Date().toISOString();
}

/** Whether a version may still become active with it. */
export function isCounting({ revoked_at, expires_at }: TokenRecord): boolean {
  return revoked_at === undefined && Date.parse(expires_at) > Date.now() - countingMs;
}

/** The tokens of a publisher, revoked ones included, oldest first. */
export async function listTokens(context: Context, publisherId: string): Promise<TokenRecord[]> {
  const items = await queryAll(context, personalAccessTokenKey(publisherId, ''));
  return inOrder(items.map(tokenRecord));
}

export function inOrder<Record extends CredentialRecord>(records: readonly Record[]): Record[] {
  return records.toSorted((a, b) => a.created_at.localeCompare(b.created_at));
}

/** Revokes a token for good, and returns since when it is revoked. */
export function revokeToken(
  context: Context,
  by: Actor,
  publisherId: string,
  id: string,
): Promise<Changed<string>> {
  const ended = { publisherId, action: 'revoke token', entry: 'token revoke', id } as const;
  return endCredential(
    context,
    by,
    ended,
    ({ tokens }) => tokens.map(tokenRecord),
    ({ label }) => label,
  );
}

type Credentials = Found<ReturnType<typeof credentialsIn>>;

interface Ended {
  publisherId: string;
  action: 'revoke token' | 'end trust';
  entry: `${'token' | 'trust'} ${string}`;
  id: string;
}

/** It stays for a while, or for good if the operator made it: what was published with it and waits never becomes active. */
export function ending(record: CredentialRecord, now: number): Write {
  return updating<CredentialRecord>(record, endOf(record, now), onRevision(record));
}

export function endOf({ made_by, ttl = Number.POSITIVE_INFINITY }: CredentialRecord, now: number) {
  const revoked_at = new Date(now).toISOString();
  return { revoked_at, ...(made_by && { ttl: Math.min(ttl, keptUntil(now)) }) };
}

export function endCredential<Record extends CredentialRecord>(
  context: Context,
  by: Actor,
  { entry, id, ...ended }: Ended,
  all: (found: Credentials) => Record[],
  describe: (record: Record) => string,
): Promise<Changed<string>> {
  const find = (found: Credentials) => all(found).find((each) => each.id === id);
  const about = (found: Credentials) => ({ madeBy: find(found)?.made_by });
  const reads = credentialsIn;
  return changeOf(context, by, { ...ended, reads, about }, (publisher, found, { now }) => {
    const record = find(found);
    const message = `The publisher "${publisher.id}" has no ${entry.split(' ')[0]} with the id "${id}".`;
    if (!record) throw new ApiError('not_found', { message });
    if (record.revoked_at !== undefined) return { done: record.revoked_at };
    const revoked_at = new Date(now).toISOString();
    return {
      change: { of: publisher, action: entry, subject: id, detail: describe(record) },
      writes: [ending(record, now)],
      result: revoked_at,
    };
  });
}
