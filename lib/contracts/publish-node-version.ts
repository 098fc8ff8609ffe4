import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { NodeId, PublisherId } from '../schemas/names.ts';
import { NodeInput } from '../schemas/node.ts';
import { NodeVersion, NodeVersionInput } from '../schemas/node-version.ts';

export const publishNodeVersion = contract({
  name: 'publishNodeVersion',
  method: 'POST',
  path: '/publishers/{publisherId}/nodes/{nodeId}/versions',
  summary: 'Publish a node version',
  description:
    'Registers a version, creates the node on its first publish, and answers a signed URL for one PUT of the zip archive, with any Content-Type or none. Until the archive has arrived the version is pending, and publishing it again resumes it.',
  access: { userUnless: 'PUBLISH_ACCESS_TOKEN', bodyToken: 'personal_access_token' },
  parameters: z.object({ publisherId: PublisherId, nodeId: NodeId }),
  body: z.object({
    node: NodeInput.with(z.describe('The node, which the first publish creates')),
    node_version: NodeVersionInput.with(z.describe('The version to publish')),
    personal_access_token: z
      .string()
      .check(z.minLength(1))
      .with(
        z.describe(
          'A personal access token of the publisher, or an OpenID Connect ID token of a CI job that the publisher trusts, which also stands for the access token: the Authorization header may then be absent',
        ),
      ),
  }),
  freeForm: { in: 'node', field: 'translations' },
  reply: z.object({
    node_version: NodeVersion,
    signedUrl: z.string().with(z.describe('Signed URL for uploading the node version; valid for 15 minutes')),
  }),
  status: 201,
  errors: [
    'invalid_personal_access_token',
    'forbidden',
    'node_banned',
    'publisher_banned',
    'publisher_not_found',
    'version_exists',
    'node_id_taken',
    'conflict',
    'record_too_large',
    'too_many_requests',
  ],
  idempotent: true,
});
