import { NodeId } from '@node-registry/registry-rules/names';
import { Member, Publisher, PublisherRole } from '@node-registry/registry-rules/schemas/publisher';
import { shortText, trustFields } from '@node-registry/registry-rules/schemas/self-service';
import * as z from 'zod/mini';
import { contractsOf, moment, text } from './contracts-of.ts';

/* What publishes: personal access tokens, and CI jobs that a publisher trusts. Who makes them: members, and the invited. */

const made = {
  createdAt: moment('When it was made'),
  last_used_at: z.optional(moment('When it last published something')),
  made_by: z.optional(text('The member id of who made it; absent if the registry did')),
  node_id: z.optional(text('Publishes only this node')),
};

export const Token = z
  .object({
    id: text('Names the token'),
    name: text('What the token is for'),
    description: z.optional(text('More about it')),
    expires_at: moment('When it ends'),
    ...made,
  })
  .with(z.meta({ id: 'PersonalAccessToken' }));

const hour = 60 * 60;
const day = 24 * hour;

export const Trust = z
  .object({
    id: text('Names the trust'),
    ...trustFields,
    ...made,
    node_id: made.node_id,
    repository_id: z.optional(text('Pinned by the first job that published')),
    owner_id: z.optional(text('Pinned by the first job that published')),
  })
  .with(z.meta({ id: 'Trust' }));

export const credentials = contractsOf({
  listPersonalAccessTokens: {
    route: 'GET /publishers/{publisherId}/tokens',
    summary: 'Tokens that work',
    description: 'Owners see all tokens of the publisher, members their own. Never the secret.',
    reply: z.array(Token),
  },
  createPersonalAccessToken: {
    route: 'POST /publishers/{publisherId}/tokens',
    summary: 'Make a token that publishes',
    description:
      'For members. The response has the token, once. It ends when its time is over, when it is revoked, or when its maker leaves.',
    body: z.object({
      name: shortText(100).with(z.describe('What the token is for')),
      description: z.optional(z.string().check(z.maxLength(500))).with(z.describe('More about it')),
      node_id: z.optional(NodeId).with(z.describe('Publishes only this node')),
      expires_in: z
        ._default(z.int().check(z.minimum(60), z.maximum(365 * day)), 90 * day)
        .with(z.describe('For how many seconds it works')),
    }),
    reply: z.object({
      token: text('The token. It is not shown again'),
      ...Token.shape,
    }),
  },
  deletePersonalAccessToken: {
    route: 'DELETE /publishers/{publisherId}/tokens/{tokenId}',
    summary: 'Revoke a token',
    description:
      'For owners, and for who made it. It works at once; what waits for its upload stays pending.',
  },
  listTrusts: {
    route: 'GET /publishers/{publisherId}/trusts',
    summary: 'CI jobs that may publish',
    description: 'For members.',
    reply: z.array(Trust),
  },
  createTrust: {
    route: 'POST /publishers/{publisherId}/trusts',
    summary: 'Let CI jobs publish without a stored secret',
    description:
      'For owners. Without `ref`, anyone who can push a branch with a changed workflow file can publish. It ends when it is removed, or when its maker leaves.',
    body: z.object(trustFields),
    reply: Trust,
  },
  deleteTrust: {
    route: 'DELETE /publishers/{publisherId}/trusts/{trustId}',
    summary: 'Stop trusting CI jobs',
    description: 'For owners, and for who made it. It works at once.',
  },
});

const working = {
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

export const members = contractsOf({
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
      'For owners, and for oneself. The tokens and trusts that the member made end in the same moment; the response lists those, and the others, which the member may know.',
    reply: z.object({
      ended: z.object(working).with(z.describe('What the member had made')),
      remaining: z
        .object(working)
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
      'For owners. The response has the secret, once: send it to the person, such as in the fragment of a link. It is used once and ends after 7 days.',
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
