import { NodeId } from '@node-registry/registry-rules/names';
import * as z from 'zod/mini';
import { contractsOf } from './contracts-of.ts';
import { moment, shortText } from './schemas.ts';

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

const matching = (maxLength: number, pattern: RegExp, message: string) =>
  z.string().check(z.maxLength(maxLength), z.regex(pattern, message));
const issuer = matching(500, /^https?:\/\/\S+$/, 'must be the URL of an issuer');
const repository = matching(300, /^[\w.-]+(?:\/[\w.-]+)+$/, 'must be an owner and a repository');
const workflow = matching(300, /^\S+\.ya?ml$/, 'must be the name of a file that ends in .yml or .yaml');
const jobWorkflow = matching(
  500,
  /^[\w.-]+\/[\w.-]+\/\.github\/workflows\/\S+\.ya?ml@\S+$/,
  'must be a workflow file with its repository and ref',
);
const ref = matching(
  300,
  /^refs\/(?:heads|tags)\/[^\s*]*\*?$/,
  'must be a branch or a tag, such as refs/tags/v*',
);
const event = matching(100, /^(?!pull_request)[a-z_]+$/, 'must be an event, and none of a pull request');

const trustFields = {
  issuer: issuer.with(z.describe('The issuer of the CI’s ID tokens')),
  repository: repository.with(z.describe('The repository, or the path of a GitLab project')),
  workflow: workflow.with(
    z.describe('The file in .github/workflows, or the path of the CI file of a GitLab project'),
  ),
  job_workflow: z.optional(jobWorkflow).with(z.describe('Only jobs in this reusable workflow')),
  environment: z.optional(shortText(255)).with(z.describe('Only jobs of this deployment environment')),
  ref: z.optional(ref).with(z.describe('Only jobs of this branch or tag; a * at its end matches anything')),
  event: z
    .optional(event)
    .with(
      z.describe('Also jobs of this event, such as workflow_run, which runs for what strangers wrote too'),
    ),
  node_id: z.optional(NodeId).with(z.describe('Only this node')),
};
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
      token: z.string().with(z.describe('The token. It is not shown again')),
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
