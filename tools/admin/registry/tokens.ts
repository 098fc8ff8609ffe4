import { randomUUID } from 'node:crypto';
import { newDeadline, untilWritten } from './administration.ts';
import { toAttributes } from '../../../lib/store/attribute-values.ts';
import { condition, update } from '../../../lib/store/expressions.ts';
import { type Key, personalAccessTokenKey, publisherKey } from '../../../lib/store/keys.ts';
import { listItems } from './listing.ts';
import { showPublisher } from './publishers.ts';
import { Refusal } from './refusal.ts';
import { tableName, transact } from '../../../lib/store/table.ts';

interface NewToken {
  publisherId: string;
  hash: string;
  label: string;
  expiresAt: string;
}

/** A personal access token as far as it is known after it was shown: neither itself nor its hash. */
export interface PersonalAccessToken {
  id: string;
  label: string;
  created_at: string;
  expires_at: string;
  last_used_at?: string;
  revoked_at?: string;
}

/** Stores the hash of a personal access token; the token itself is shown once, by whoever made it. */
export async function putPersonalAccessToken({
  publisherId,
  hash,
  label,
  expiresAt,
}: NewToken): Promise<PersonalAccessToken> {
  const token = {
    id: randomUUID(),
    label,
    created_at: new Date().toISOString(),
    expires_at: expiresAt,
  };
  const record = { ...personalAccessTokenKey(publisherId, hash), ...token, revision: 1 };
  const failed = await transact(
    [
      { Put: { TableName: tableName, Item: toAttributes(record), ...condition(['pk', 'absent']) } },
      {
        ConditionCheck: {
          TableName: tableName,
          Key: toAttributes(publisherKey(publisherId)),
          ...condition(['pk', 'exists']),
        },
      },
    ],
    newDeadline(),
  );
  if (!failed) return token;
  throw new Refusal(
    failed[1]?.Code === 'ConditionalCheckFailed'
      ? `There is no publisher "${publisherId}".`
      : 'This token is stored already.',
  );
}

export async function listPersonalAccessTokens(publisherId: string): Promise<PersonalAccessToken[]> {
  await showPublisher(publisherId);
  const stored = await listStored(publisherId);
  return stored
    .map(({ pk: _, sk: __, revision: ___, ...token }) => token)
    .sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** Revokes a token for good, and answers since when it is revoked. */
export async function revokePersonalAccessToken(publisherId: string, id: string): Promise<string> {
  await showPublisher(publisherId);
  return untilWritten(async (deadline) => {
    const token = (await listStored(publisherId)).find((stored) => stored.id === id);
    if (!token) throw new Refusal(`The publisher "${publisherId}" has no token with the id "${id}".`);
    if (token.revoked_at) return token.revoked_at;
    const now = new Date().toISOString();
    const key = toAttributes({ pk: token.pk, sk: token.sk });
    const expression = update({ revoked_at: now }, ['pk', 'exists'], ['revoked_at', 'absent']);
    const failed = await transact([{ Update: { TableName: tableName, Key: key, ...expression } }], deadline);
    return failed ? undefined : now;
  });
}

async function listStored(publisherId: string): Promise<(Key & PersonalAccessToken)[]> {
  return (await listItems(personalAccessTokenKey(publisherId, ''))) as (Key & PersonalAccessToken)[];
}
