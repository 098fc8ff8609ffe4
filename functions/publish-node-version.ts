// POST /publishers/{publisherId}/nodes/{nodeId}/versions
import { requireTokenHash } from '../lib/auth/personal-access-tokens.ts';
import { ciJobOf } from '../lib/auth/publishing-tokens.ts';
import { stagingKey } from '../lib/bucket/object-keys.ts';
import { signUpload } from '../lib/bucket/signed-upload.ts';
import { publishNodeVersion } from '../lib/contracts/publish-node-version.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { requireSameNode } from '../lib/registry/nodes.ts';
import { findAwaitedUpload, registerVersion } from '../lib/registry/publishing.ts';

export const handler = endpoint(
  publishNodeVersion,
  async ({ path, body, caller, job, deadline }) => {
    const proof = job ? { job } : { tokenHash: requireTokenHash(body.personal_access_token) };
    requireSameNode(path.nodeId, body.node.id);
    const { version, upload } = await registerVersion({
      ...path,
      node: body.node,
      version: body.node_version,
      ...proof,
      caller,
      deadline,
    });
    return { body: { node_version: version, signedUrl: await signUpload(stagingKey(upload)) } };
  },
  {
    jobOf: ciJobOf,
    // The address of a kept answer is dead after fifteen minutes, or once the version was published again.
    refresh: async (kept, { path, deadline }) => {
      const upload = await findAwaitedUpload(path.nodeId, kept.node_version, deadline);
      return upload ? { ...kept, signedUrl: await signUpload(stagingKey(upload)) } : kept;
    },
  },
);
