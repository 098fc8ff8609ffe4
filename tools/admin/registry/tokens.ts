import { randomUUID } from 'node:crypto';
import { type PublisherRecord, type TokenRecord, tokenRecord } from '../../../lib/registry/records.ts';
import { absent, onRevision } from '../../../lib/store/items.ts';
import { personalAccessTokenKey, publisherKey } from '../../../lib/store/keys.ts';
import { checking, putting, updating } from '../../../lib/store/write.ts';
import { administer, listItems, publisherIn, Rejection } from './administration.ts';
import { showPublisher } from './publishers.ts';

interface NewToken {
  publisherId: string;
  hash: string;
  label: string;
  expiresAt: string;
}

/** A personal access token without its secrets: neither the token nor its hash. */
export type PersonalAccessToken = Omit<TokenRecord, 'pk' | 'sk' | 'revision'>;

/** Stores the hash of a personal access token; the caller shows the token itself, once. */
export async function putPersonalAccessToken(
  actor: string,
  { publisherId, hash, label, expiresAt }: NewToken,
): Promise<PersonalAccessToken> {
  const token = { id: randomUUID(), label, created_at: new Date().toISOString(), expires_at: expiresAt };
  const record: TokenRecord = { ...personalAccessTokenKey(publisherId, hash), ...token, revision: 1 };
  const made = await administer(actor, { first: [publisherKey(publisherId)] }, ([item]) => {
    const of = publisherIn(item, publisherId);
    return {
      change: { of, action: 'token create', subject: token.id, detail: label },
      writes: [putting(record, absent), checking<PublisherRecord>(of, [['moved_to', 'absent']])],
      result: token,
    };
  });
  return made.result;
}

export async function listPersonalAccessTokens(publisherId: string): Promise<PersonalAccessToken[]> {
  await showPublisher(publisherId);
  const items = await listItems(personalAccessTokenKey(publisherId, ''));
  return items
    .map((item) => visibleToken(tokenRecord(item)))
    .sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** Revokes a token for good, and returns since when it is revoked. */
export async function revokePersonalAccessToken(
  actor: string,
  publisherId: string,
  id: string,
): Promise<string> {
  await showPublisher(publisherId);
  const below = personalAccessTokenKey(publisherId, '');
  const made = await administer(actor, { first: [{ below }] }, ([items], { now }) => {
    const token = items.map((item) => tokenRecord(item)).find((stored) => stored.id === id);
    if (!token) throw new Rejection(`The publisher "${publisherId}" has no token with the id "${id}".`);
    if (token.revoked_at) return { done: token.revoked_at };
    const revoked_at = new Date(now).toISOString();
    return {
      change: { of: publisherKey(publisherId), action: 'token revoke', subject: id, detail: token.label },
      writes: [updating<TokenRecord>(token, { revoked_at }, onRevision(token))],
      result: revoked_at,
    };
  });
  return made.result;
}

function visibleToken({ pk: _, sk: __, revision: ___, ...token }: TokenRecord): PersonalAccessToken {
  return token;
}
