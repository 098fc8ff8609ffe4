import * as z from 'zod/mini';
import { NodeId } from '../names.ts';
import { isRunByPage } from '../web-address.ts';
import { plainText } from './fields.ts';

/* What is said of a publisher and of CI jobs: in bodies of requests, and as options of commands. */

export const shortText = (maxLength: number) => plainText.check(z.minLength(1), z.maxLength(maxLength));

/** A profile is public, and pages link to what it names. */
const address = z.string().check(
  z.maxLength(2000),
  z.refine((text) => !isRunByPage(text), 'must not be a URL that runs code, such as javascript:'),
);

export const PublisherName = shortText(100).with(z.describe('Display name'));
export const profileFields = {
  description: z.string().check(z.maxLength(2000)).with(z.describe('What the publisher does')),
  logo: address.with(z.describe('URL to the logo')),
  source_code_repo: address.with(z.describe('Where the source code is')),
  support: address.with(z.describe('Where to get help')),
  website: address.with(z.describe('Home page')),
};

const matching = (maxLength: number, pattern: RegExp, message: string) =>
  z.string().check(z.maxLength(maxLength, { abort: true }), z.regex(pattern, message));
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

export const trustFields = {
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
