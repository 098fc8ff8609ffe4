import { type Caller, memberIdOf } from '../caller.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { credentials, Invitation, members, Token, Trust } from '../contracts/self-service/members.ts';
import { ApiError } from '../errors.ts';
import { seePublisher } from '../registry/changes.ts';
import { accept, invite, listInvitations, withdrawInvitation } from '../registry/invitations.ts';
import { closedBy } from '../registry/may.ts';
import { type Credentials, putMember, removeMember } from '../registry/members.ts';
import { memberOf, memberView, memberWithId, publisherFor } from '../registry/publishers.ts';
import { type Member, pickFields, type TokenRecord, type TrustRecord } from '../registry/records.ts';
import { createToken, isUsable, listTokens, revokeToken } from '../registry/tokens.ts';
import { addTrust, isTrusted, listTrusts, removeTrust } from '../registry/trusts.ts';
import { emailOf, peopleRoutes } from './people.ts';

export const memberRoutes = peopleRoutes(
  { ...members, ...credentials },
  {
    async listMembers({ path, caller, context }) {
      const publisher = await seePublisher(context, caller, path.publisherId);
      return publisherFor(caller, publisher).members ?? [];
    },
    async updateMember({ path, body, caller, context }) {
      const [userId] = await memberIn(context, caller, path);
      const { result } = await putMember(context, caller, path.publisherId, userId, body);
      const member = memberOf(result, userId);
      if (!member) throw new ApiError('not_found');
      return memberView([userId, member]);
    },
    async removeMember({ path, caller, context }) {
      const [userId] = await memberIn(context, caller, path);
      const { ended, remaining } = (await removeMember(context, caller, path.publisherId, userId)).result;
      const hasLeft = userId === caller.userId;
      return {
        ended: credentialsView(ended),
        remaining: credentialsView(hasLeft ? { tokens: [], trusts: [] } : remaining),
      };
    },
    async listInvitations({ path, caller, context }) {
      const publisher = await seePublisher(context, caller, path.publisherId, 'see all of publisher');
      return (await listInvitations(context, publisher.id)).map((each) => pickFields(each, Invitation));
    },
    async createInvitation({ path, body, caller, context }) {
      if (body.email !== undefined && config.signIn().EMAIL_CLAIM === undefined) {
        const message = 'must be left out: this deployment reads no e-mail addresses';
        throw new ApiError('invalid_request', { details: [{ path: 'body.email', message }] });
      }
      const { record, invitation } = await invite(context, caller, path.publisherId, body);
      const { ACCOUNT_URL: page } = config.signIn();
      // A fragment reaches no server.
      const link = page && `${page}#invitation=${encodeURIComponent(invitation)}`;
      return { ...pickFields(record, Invitation), invitation, ...(link && { link }) };
    },
    deleteInvitation: ({ path, caller, context }) =>
      withdrawInvitation(context, caller, path.publisherId, path.invitationId),
    async acceptInvitation({ body, caller, context }) {
      const told = { name: body.name, email: emailOf(caller) };
      return publisherFor(caller, await accept(context, caller, body.invitation, told));
    },
    async listPersonalAccessTokens({ path, caller, context }) {
      const publisher = await seePublisher(context, caller, path.publisherId);
      const isOwner = closedBy(caller, 'see all of publisher', { publisher }) === undefined;
      const tokens = (await listTokens(context, publisher.id)).filter(isUsable);
      const own = memberIdOf(caller.userId);
      return tokens.filter(({ made_by }) => isOwner || made_by === own).map(tokenView);
    },
    async createPersonalAccessToken({ path, body, caller, context }) {
      const { name: label, description, node_id, expires_in } = body;
      const expires_at = new Date(Date.now() + expires_in * 1000).toISOString();
      const fields = { ...path, label, description, node_id, expires_at };
      const { record, token } = await createToken(context, caller, fields);
      return { token, ...tokenView(record) };
    },
    async deletePersonalAccessToken({ path, caller, context }) {
      await revokeToken(context, caller, path.publisherId, path.tokenId);
    },
    async listTrusts({ path, caller, context }) {
      const publisher = await seePublisher(context, caller, path.publisherId);
      return (await listTrusts(context, publisher.id)).filter(isTrusted).map(trustView);
    },
    createTrust: async ({ path, body, caller, context }) =>
      trustView(await addTrust(context, caller, path.publisherId, body)),
    async deleteTrust({ path, caller, context }) {
      await removeTrust(context, caller, path.publisherId, path.trustId);
    },
  },
);

/** A member by its id, for one who may know the members. Who isn't one learns nothing of them. */
async function memberIn(
  context: Context,
  caller: Caller,
  { publisherId, memberId }: { publisherId: string; memberId: string },
): Promise<[string, Member]> {
  const found = memberWithId(await seePublisher(context, caller, publisherId), memberId);
  if (!found) throw new ApiError('not_found');
  return found;
}

function credentialsView({ tokens, trusts }: Credentials) {
  return { tokens: tokens.map(tokenView), trusts: trusts.map(trustView) };
}

function tokenView({ label: name, created_at: createdAt, ...token }: TokenRecord) {
  return pickFields({ ...token, name, createdAt }, Token);
}

function trustView({ created_at: createdAt, ...trust }: TrustRecord) {
  return pickFields({ ...trust, createdAt }, Trust);
}
