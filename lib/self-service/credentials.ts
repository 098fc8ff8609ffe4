import { memberIdOf } from '../caller.ts';
import { contracts, Token, Trust } from '../contracts/self-service/credentials.ts';
import { seePublisher } from '../registry/changes.ts';
import { closedBy } from '../registry/may.ts';
import { pickFields, type TokenRecord, type TrustRecord } from '../registry/records.ts';
import { createToken, isUsable, listTokens, revokeToken } from '../registry/tokens.ts';
import { addTrust, isTrusted, listTrusts, removeTrust } from '../registry/trusts.ts';
import { peopleRoute } from './people.ts';

export const credentialRoutes = [
  peopleRoute(contracts.listPersonalAccessTokens, async ({ path, caller, context }) => {
    const publisher = await seePublisher(context, caller, path.publisherId);
    const isOwner = closedBy(caller, 'see all of publisher', { publisher }) === undefined;
    const tokens = (await listTokens(context, publisher.id)).filter(isUsable);
    const own = memberIdOf(caller.userId);
    return tokens.filter(({ made_by }) => isOwner || made_by === own).map(tokenView);
  }),
  peopleRoute(contracts.createPersonalAccessToken, async ({ path, body, caller, context }) => {
    const { name: label, description, node_id, expires_in } = body;
    const expires_at = new Date(Date.now() + expires_in * 1000).toISOString();
    const fields = { ...path, label, description, node_id, expires_at };
    const { record, token } = await createToken(context, caller, fields);
    return { token, ...tokenView(record) };
  }),
  peopleRoute(contracts.deletePersonalAccessToken, async ({ path, caller, context }) => {
    await revokeToken(context, caller, path.publisherId, path.tokenId);
  }),
  peopleRoute(contracts.listTrusts, async ({ path, caller, context }) => {
    const publisher = await seePublisher(context, caller, path.publisherId);
    return (await listTrusts(context, publisher.id)).filter(isTrusted).map(trustView);
  }),
  peopleRoute(contracts.createTrust, async ({ path, body, caller, context }) =>
    trustView(await addTrust(context, caller, path.publisherId, body)),
  ),
  peopleRoute(contracts.deleteTrust, async ({ path, caller, context }) => {
    await removeTrust(context, caller, path.publisherId, path.trustId);
  }),
];

export function tokenView({ label: name, created_at: createdAt, ...token }: TokenRecord) {
  return pickFields({ ...token, name, createdAt }, Token);
}

export function trustView({ created_at: createdAt, ...trust }: TrustRecord) {
  return pickFields({ ...trust, createdAt }, Trust);
}
