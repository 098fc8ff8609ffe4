import { NodeId } from '@node-registry/registry-rules/names';
import { shortText, trustFields } from '@node-registry/registry-rules/schemas/self-service';
import * as z from 'zod/mini';
import { contractsOf, moment, text } from './contracts-of.ts';

/* What publishes: personal access tokens, and CI jobs that a publisher trusts. */

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

export const contracts = contractsOf({
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
      'For members. The answer has the token, once. It ends when its time is over, when it is revoked, or when its maker leaves.',
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
