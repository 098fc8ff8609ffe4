import * as z from 'zod/mini';
import * as config from '../config.ts';
import { contract } from '../contract.ts';
import { type Deployed, publicFiles, registryCaller } from '../deployment.ts';
import { NodeId, PublisherId } from '@node-registry/registry-rules/names';
import { NodeInput } from '@node-registry/registry-rules/schemas/node';
import { NodeVersion, NodeVersionInput } from '@node-registry/registry-rules/schemas/node-version';
import { sampleVersion } from '../schemas/samples.ts';

export const publishNodeVersion = contract({
  name: 'publishNodeVersion',
  method: 'POST',
  path: '/publishers/{publisherId}/nodes/{nodeId}/versions',
  summary: 'Publish a node version',
  description:
    'Registers a version, creates the node on its first publish, and answers a signed URL for one PUT of the zip archive, with any Content-Type or none. Until the archive has arrived the version is pending, and publishing it again, spelled as before, resumes it. For a published version, a `node_version` that names nothing but `version` and `deprecated` or `changelog`, with a `node` that names at most its `id`, changes those, and what is put to the URL is ignored; anything else, and what changes nothing, is 409. A node of yours that is withdrawn takes no version until it is active again: 409 `node_id_taken`.',
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
  asWritten: ['node', 'translations'],
  reply: z.object({
    node_version: NodeVersion,
    signedUrl: z
      .string()
      .with(
        z.describe(
          'Signed URL for uploading the node version; valid for 15 minutes. PUT the archive with a Content-Length, and without an Authorization header',
        ),
      ),
  }),
  status: 201,
  errors: [
    'invalid_personal_access_token',
    'forbidden',
    'caller_blocked',
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

export const deployedPublishNodeVersion: Deployed<typeof publishNodeVersion> = {
  contract: publishNodeVersion,
  deployment: () => ({
    variables: [...registryCaller, ...publicFiles, config.ci, config.publishing],
    rights: [
      // One transaction writes the node and the version, and lists and counts a new node with its publisher. It also
      // notes the token's use: with the publisher, or, for an ID token of a CI, in a partition of its own.
      {
        table: ['PutItem', 'UpdateItem'],
        keys: ['nodes', 'publishers', 'idTokens', 'owned', 'pending'],
      },
      { table: ['BatchGetItem'], keys: ['nodes', 'publishers', 'idTokens', 'blocks', 'pending'] },
      // The CI jobs that a publisher trusts.
      { table: ['Query'], keys: ['publishers'] },
      { index: 'versions', keys: ['nodes'] },
      // Only the administration sets who belongs to a publisher and whether it is banned.
      { table: ['PutItem', 'UpdateItem'], neverChanges: ['members', 'banned', 'ban_reason'] },
      // A response is smaller than a record, so it is kept in one part.
      { table: ['PutItem', 'DeleteItem'], keys: ['idempotency'] },
      { bucket: ['PutObject'], folder: 'staging' },
    ],
    throttle: 10,
    sampleReply: {
      node_version: {
        ...sampleVersion,
        id: '3c1f9d52-6f0a-4d5e-8f5c-7f2f1f6f8a55',
        version: '1.2.0',
        changelog: 'Faster loading',
        supported_os: ['linux', 'macos'],
        status: 'NodeVersionStatusPending',
        status_reason: 'Waiting for the archive: PUT it to the signedUrl of the publish response.',
        status_reason_code: 'awaiting_upload',
      },
      signedUrl:
        'https://archives.s3.us-east-1.amazonaws.com/staging/3c1f9d52/upload.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-SignedHeaders=content-type%3Bhost&X-Amz-Signature=0f3a',
    },
  }),
};
