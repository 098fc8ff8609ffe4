import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { type Deployed, publicFiles } from '../deployment.ts';
import { added, list } from '@node-registry/registry-rules/schemas/fields';
import { NodeVersion } from '@node-registry/registry-rules/schemas/node-version';
import { samplePublishedVersion } from '../schemas/samples.ts';

/** A field that is absent or not a string is an error of that entry only, and is returned as sent. */
const text = (description: string) =>
  z.optional(z.unknown()).with(z.meta({ type: ['string', 'null'], description }));

const identifier = z.object({
  node_id: text('Unique identifier of the node'),
  version: text('Version label'),
});

export const bulkNodeVersions = contract({
  name: 'bulkNodeVersions',
  method: 'POST',
  path: '/bulk/nodes/versions',
  summary: 'Fetch many node versions',
  description:
    'Answers one entry per requested pair, in order. A pair that cannot be answered says so in its own entry.',
  access: 'anyone',
  parameters: z.object({}),
  body: z.object({
    node_versions: list(identifier, 1000).with(z.describe('The pairs to fetch, at most 1000')),
  }),
  reply: z.object({
    node_versions: z
      .array(
        z.object({
          identifier: identifier.with(z.describe('The pair exactly as it was requested')),
          error_message: z.optional(z.string()).with(z.describe('Why the pair could not be answered')),
          node_version: z.optional(NodeVersion),
          status: z.enum(['success', 'not_found', 'error']).with(added('Result for the pair')),
        }),
      )
      .with(z.describe('One entry for each pair, in the order of the request')),
  }),
  status: 200,
  errors: [],
});

export const deployedBulkNodeVersions: Deployed<typeof bulkNodeVersions> = {
  contract: bulkNodeVersions,
  deployment: () => ({
    variables: publicFiles,
    rights: [{ table: ['BatchGetItem'], keys: ['nodes'] }],
    // It reads up to 1,000 records a request.
    throttle: 'bulkRateLimit',
    sampleReply: {
      node_versions: [
        {
          identifier: { node_id: 'demo-node', version: '1.0.0' },
          status: 'success',
          node_version: samplePublishedVersion(),
        },
        {
          identifier: { node_id: 'demo-node', version: '9.9.9' },
          status: 'not_found',
          error_message: 'The node version does not exist.',
        },
      ],
    },
  }),
};
