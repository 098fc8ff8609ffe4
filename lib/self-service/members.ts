import type { Caller } from '../caller.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { contracts, Invitation } from '../contracts/self-service/members.ts';
import { ApiError } from '../errors.ts';
import { seePublisher } from '../registry/changes.ts';
import { accept, invite, listInvitations, withdrawInvitation } from '../registry/invitations.ts';
import { type Credentials, putMember, removeMember } from '../registry/members.ts';
import { memberOf, memberView, memberWithId, publisherFor } from '../registry/publishers.ts';
import { type InvitationRecord, type Member, pickFields } from '../registry/records.ts';
import { tokenView, trustView } from './credentials.ts';
import { emailOf, peopleRoute } from './people.ts';

export const memberRoutes = [
  peopleRoute(contracts.listMembers, async ({ path, caller, context }) => {
    const publisher = await seePublisher(context, caller, path.publisherId);
    return publisherFor(caller, publisher).members ?? [];
  }),
  peopleRoute(contracts.updateMember, async ({ path, body, caller, context }) => {
    const [userId] = await memberIn(context, caller, path);
    const { result } = await putMember(context, caller, path.publisherId, userId, body);
    const member = memberOf(result, userId);
    if (!member) throw new ApiError('not_found');
    return memberView([userId, member]);
  }),
  peopleRoute(contracts.removeMember, async ({ path, caller, context }) => {
    const [userId] = await memberIn(context, caller, path);
    const { ended, remaining } = (await removeMember(context, caller, path.publisherId, userId)).result;
    const hasLeft = userId === caller.userId;
    return {
      ended: credentialsView(ended),
      remaining: credentialsView(hasLeft ? { tokens: [], trusts: [] } : remaining),
    };
  }),
  peopleRoute(contracts.listInvitations, async ({ path, caller, context }) => {
    const publisher = await seePublisher(context, caller, path.publisherId, 'see all of publisher');
    return (await listInvitations(context, publisher.id)).map(invitationView);
  }),
  peopleRoute(contracts.createInvitation, async ({ path, body, caller, context }) => {
    if (body.email !== undefined && config.signIn().EMAIL_CLAIM === undefined) {
      const message = 'must be left out: this deployment reads no e-mail addresses';
      throw new ApiError('invalid_request', { details: [{ path: 'body.email', message }] });
    }
    const { record, invitation } = await invite(context, caller, path.publisherId, body);
    const { ACCOUNT_URL: page } = config.signIn();
    // A fragment reaches no server.
    const link = page && `${page}#invitation=${encodeURIComponent(invitation)}`;
    return { ...invitationView(record), invitation, ...(link && { link }) };
  }),
  peopleRoute(contracts.deleteInvitation, async ({ path, caller, context }) => {
    await withdrawInvitation(context, caller, path.publisherId, path.invitationId);
  }),
  peopleRoute(contracts.acceptInvitation, async ({ body, caller, context }) => {
    const told = { name: body.name, email: emailOf(caller) };
    return publisherFor(caller, await accept(context, caller, body.invitation, told));
  }),
];

/** A member by its id, for one who may know the members. Who isn't one learns nothing of them. */
async function memberIn(
  context: Context,
  caller: Caller,
  { publisherId, memberId }: { publisherId: string; memberId: string },
): Promise<[string, Member]> {
  const publisher = await seePublisher(context, caller, publisherId);
  const found = memberWithId(publisher, memberId);
  if (!found) throw new ApiError('not_found');
  return found;
}

function credentialsView({ tokens, trusts }: Credentials) {
  return { tokens: tokens.map(tokenView), trusts: trusts.map(trustView) };
}

function invitationView(record: InvitationRecord) {
  return pickFields(record, Invitation);
}
