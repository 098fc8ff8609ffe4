import type { TokenRecord, Operator } from '../../../lib/registry/records.ts';
import { createToken, listTokens, revokeToken } from '../../../lib/registry/tokens.ts';
import { newContext } from './administration.ts';
import { showPublisher } from './publishers.ts';

/** A personal access token without its secrets: neither the token nor its hash. */
export type PersonalAccessToken = Omit<TokenRecord, 'pk' | 'sk' | 'revision'>;

export async function putPersonalAccessToken(
  operator: Operator,
  token: Parameters<typeof createToken>[2],
): Promise<PersonalAccessToken> {
  return visibleToken(await createToken(newContext(), operator, token));
}

export async function listPersonalAccessTokens(publisherId: string): Promise<PersonalAccessToken[]> {
  await showPublisher(publisherId);
  return (await listTokens(newContext(), publisherId)).map(visibleToken);
}

/** Revokes a token for good, and returns since when it is revoked. */
export async function revokePersonalAccessToken(
  operator: Operator,
  publisherId: string,
  id: string,
): Promise<string> {
  return (await revokeToken(newContext(), operator, publisherId, id)).result;
}

function visibleToken({ pk: _, sk: __, revision: ___, ...token }: TokenRecord): PersonalAccessToken {
  return token;
}
