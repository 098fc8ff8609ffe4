// POST /publishers/{publisherId}/nodes/{nodeId}/versions
import { stagingKey } from '../lib/bucket/object-keys.ts';
import { signUpload } from '../lib/bucket/signed-upload.ts';
import { requireWellFormed } from '../lib/auth/personal-access-tokens.ts';
import { publishNodeVersion } from '../lib/contracts/publish-node-version.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { requireSameNode } from '../lib/registry/nodes.ts';
import { registerVersion } from '../lib/registry/publishing.ts';

export const handler = endpoint(publishNodeVersion, async ({ path, body, caller, deadline }) => {
  const tokenHash = requireWellFormed(body.personal_access_token);
  requireSameNode(path.nodeId, body.node.id);
  const { version, upload } = await registerVersion({
    ...path,
    node: body.node,
    version: body.node_version,
    tokenHash,
    caller,
    deadline,
  });
  return { body: { node_version: version, signedUrl: await signUpload(stagingKey(upload)) } };
});
