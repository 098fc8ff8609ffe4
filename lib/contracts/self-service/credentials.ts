import { NodeId } from '@node-registry/registry-rules/names';
import * as z from 'zod/mini';
import { contract } from '../../contract.ts';
import { closable, moment, ofPublisher, open, readable, shortText, uuidAs } from './schemas.ts';

/* What publishes: personal access tokens, and CI jobs that a publisher trusts. */

const made = {
  createdAt: moment('When it was made'),
  last_used_at: z.optional(moment('When it last published something')),
  made_by: z
    .optional(z.string())
    .with(z.describe('The member id of who made it; absent if the registry did')),
  node_id: z.optional(z.string()).with(z.describe('Publishes only this node')),
};

export const Token = z
  .object({
    id: z.string().with(z.describe('Names the token')),
    name: z.string().with(z.describe('What the token is for')),
    description: z.optional(z.string()).with(z.describe('More about it')),
    expires_at: moment('When it ends'),
    ...made,
  })
  .with(z.meta({ id: 'PersonalAccessToken' }));

const hour = 60 * 60;
const day = 24 * hour;

export const listPersonalAccessTokens = contract({
  name: 'listPersonalAccessTokens',
  method: 'GET',
  path: '/publishers/{publisherId}/tokens',
  summary: 'Tokens that work',
  description: 'Owners see all tokens of the publisher, members their own. Never the secret.',
  access: 'user',
  parameters: ofPublisher,
  reply: z.array(Token),
  status: 200,
  errors: [...readable],
});

export const createPersonalAccessToken = contract({
  name: 'createPersonalAccessToken',
  method: 'POST',
  path: '/publishers/{publisherId}/tokens',
  summary: 'Make a token that publishes',
  description:
    'For members. The answer has the token, once. It ends when its time is over, when it is revoked, or when its maker leaves.',
  access: 'user',
  parameters: ofPublisher,
  body: z.object({
    name: shortText(100).with(z.describe('What the token is for')),
    description: z.optional(z.string().check(z.maxLength(500))).with(z.describe('More about it')),
    node_id: z.optional(NodeId).with(z.describe('Publishes only this node')),
    expires_in: z
      ._default(z.int().check(z.minimum(60), z.maximum(365 * day)), 90 * day)
      .with(z.describe('For how many seconds it works')),
  }),
  reply: z.object({
    token: z.string().with(z.describe('The token. It is not shown again')),
    ...Token.shape,
  }),
  status: 201,
  errors: [...closable, 'too_many_requests'],
});

export const deletePersonalAccessToken = contract({
  name: 'deletePersonalAccessToken',
  method: 'DELETE',
  path: '/publishers/{publisherId}/tokens/{tokenId}',
  summary: 'Revoke a token',
  description: 'For owners, and for who made it. It works at once; what waits for its upload stays pending.',
  access: 'user',
  parameters: z.object({ ...ofPublisher.shape, tokenId: uuidAs('The `id` of the token') }),
  status: 204,
  errors: [...open, 'not_found'],
});

const trustFields = {
  issuer: z
    .string()
    .check(z.maxLength(500), z.regex(/^https?:\/\/\S+$/, 'must be the URL of an issuer'))
    .with(z.describe('The issuer of the CI’s ID tokens')),
  repository: z
    .string()
    .check(z.maxLength(300), z.regex(/^[\w.-]+(?:\/[\w.-]+)+$/, 'must be an owner and a repository'))
    .with(z.describe('The repository, or the path of a GitLab project')),
  workflow: z
    .string()
    .check(z.maxLength(300), z.regex(/^\S+\.ya?ml$/, 'must be the name of a file that ends in .yml or .yaml'))
    .with(z.describe('The file in .github/workflows, or the path of the CI file of a GitLab project')),
  job_workflow: z
    .optional(
      z
        .string()
        .check(
          z.maxLength(500),
          z.regex(
            /^[\w.-]+\/[\w.-]+\/\.github\/workflows\/\S+\.ya?ml@\S+$/,
            'must be a workflow file with its repository and ref',
          ),
        ),
    )
    .with(z.describe('Only jobs in this reusable workflow')),
  environment: z.optional(shortText(255)).with(z.describe('Only jobs of this deployment environment')),
  ref: z
    .optional(
      z
        .string()
        .check(
          z.maxLength(300),
          z.regex(/^refs\/(?:heads|tags)\/[^\s*]*\*?$/, 'must be a branch or a tag, such as refs/tags/v*'),
        ),
    )
    .with(z.describe('Only jobs of this branch or tag; a * at its end matches anything')),
  event: z
    .optional(
      z
        .string()
        .check(
          z.maxLength(100),
          z.regex(/^(?!pull_request)[a-z_]+$/, 'must be an event, and none of a pull request'),
        ),
    )
    .with(
      z.describe('Also jobs of this event, such as workflow_run, which runs for what strangers wrote too'),
    ),
  node_id: z.optional(NodeId).with(z.describe('Only this node')),
};
export const NewTrust = z.object(trustFields);

export const Trust = z
  .object({
    id: z.string().with(z.describe('Names the trust')),
    ...trustFields,
    ...made,
    node_id: made.node_id,
    repository_id: z.optional(z.string()).with(z.describe('Pinned by the first job that published')),
    owner_id: z.optional(z.string()).with(z.describe('Pinned by the first job that published')),
  })
  .with(z.meta({ id: 'Trust' }));

export const listTrusts = contract({
  name: 'listTrusts',
  method: 'GET',
  path: '/publishers/{publisherId}/trusts',
  summary: 'CI jobs that may publish',
  description: 'For members.',
  access: 'user',
  parameters: ofPublisher,
  reply: z.array(Trust),
  status: 200,
  errors: [...readable],
});

export const createTrust = contract({
  name: 'createTrust',
  method: 'POST',
  path: '/publishers/{publisherId}/trusts',
  summary: 'Let CI jobs publish without a stored secret',
  description:
    'For owners. Without `ref`, anyone who can push a branch with a changed workflow file can publish. It ends when it is removed, or when its maker leaves.',
  access: 'user',
  parameters: ofPublisher,
  body: NewTrust,
  reply: Trust,
  status: 201,
  errors: [...closable, 'too_many_requests'],
});

export const deleteTrust = contract({
  name: 'deleteTrust',
  method: 'DELETE',
  path: '/publishers/{publisherId}/trusts/{trustId}',
  summary: 'Stop trusting CI jobs',
  description: 'For owners, and for who made it. It works at once.',
  access: 'user',
  parameters: z.object({ ...ofPublisher.shape, trustId: uuidAs('The `id` of the trust') }),
  status: 204,
  errors: [...open, 'not_found'],
});
