import { Member, Publisher, PublisherRole } from '@node-registry/registry-rules/schemas/publisher';
import { shortText } from '@node-registry/registry-rules/schemas/self-service';
import * as z from 'zod/mini';
import { contractsOf, moment, text } from './contracts-of.ts';
import { Token, Trust } from './credentials.ts';

/* Members of a publisher, and invitations. */

const credentials = {
  tokens: z.array(Token).with(z.describe('Personal access tokens')),
  trusts: z.array(Trust).with(z.describe('CI jobs')),
};

const invitationFields = {
  id: text('Names the invitation'),
  role: PublisherRole,
  user_id: z.optional(text('Only this user may accept it')),
  email: z.optional(text('Only who has verified this address may accept it')),
  created_at: moment('When it was made'),
  expires_at: moment('When it ends'),
  made_by: text('The member id of who made it'),
};
export const Invitation = z.object(invitationFields).with(z.meta({ id: 'Invitation' }));

export const contracts = contractsOf({
  listMembers: {
    route: 'GET /publishers/{publisherId}/members',
    summary: 'The members of a publisher',
    description: 'For members; e-mail addresses are shown to owners and admins.',
    reply: z.array(Member),
  },
  updateMember: {
    route: 'PUT /publishers/{publisherId}/members/{memberId}',
    summary: 'Change the role of a member',
    description: 'For owners. A publisher keeps an owner.',
    body: z.object({ role: PublisherRole }),
    reply: Member,
  },
  removeMember: {
    route: 'DELETE /publishers/{publisherId}/members/{memberId}',
    summary: 'Remove a member, or leave',
    description:
      'For owners, and for oneself. The tokens and trusts that the member made end in the same moment; the answer lists those, and the others, which the member may know.',
    reply: z.object({
      ended: z.object(credentials).with(z.describe('What the member had made')),
      remaining: z
        .object(credentials)
        .with(z.describe('What others had made, and still works; empty for who left')),
    }),
  },
  listInvitations: {
    route: 'GET /publishers/{publisherId}/invitations',
    summary: 'Open invitations',
    description: 'For owners. Used, withdrawn and ended ones are gone.',
    reply: z.array(Invitation),
  },
  createInvitation: {
    route: 'POST /publishers/{publisherId}/invitations',
    summary: 'Invite somebody',
    description:
      'For owners. The answer has the secret, once: send it to the person, such as in the fragment of a link. It is used once and ends after 7 days.',
    body: z.object({
      role: z._default(PublisherRole, 'member'),
      user_id: z.optional(shortText(500)).with(z.describe('Only this user may accept it')),
      email: z
        .optional(
          z.string().check(z.maxLength(254), z.regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')),
        )
        .with(
          z.describe('Only who has verified this address may accept it, if the deployment reads addresses'),
        ),
    }),
    reply: z.object({
      ...invitationFields,
      invitation: text('The secret. It is not shown again'),
      link: z.optional(text('Where a person accepts it, if the stage has a page')),
    }),
  },
  deleteInvitation: {
    route: 'DELETE /publishers/{publisherId}/invitations/{invitationId}',
    summary: 'Withdraw an invitation',
    description: 'For owners.',
  },
  acceptInvitation: {
    route: 'POST /invitations/accept',
    summary: 'Accept an invitation',
    description:
      'The person becomes a member. A used, withdrawn, ended or foreign invitation is the same 404.',
    body: z.object({
      invitation: z.string().check(z.maxLength(300)).with(z.describe('The secret')),
      name: z.optional(shortText(100)).with(z.describe('Under which name the members see the person')),
    }),
    reply: Publisher,
    status: 200,
    errors: ['not_found'],
  },
});
