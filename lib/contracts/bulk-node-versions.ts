import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { added, list } from '../schemas/fields.ts';
import { NodeVersion } from '../schemas/node-version.ts';

/** A pair that lacks a field is that entry's error. */
const identifier = z.object({
  node_id: z.nullish(z.string()).with(z.describe('Unique identifier of the node')),
  version: z.nullish(z.string()).with(z.describe('Version label')),
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
  isCompressed: true,
});
