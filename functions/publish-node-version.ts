// POST /publishers/{publisherId}/nodes/{nodeId}/versions
import { stagingKey } from '../lib/bucket/object-keys.ts';
import { signUpload } from '../lib/bucket/signed-upload.ts';
import { publishNodeVersion } from '../lib/contracts/publish-node-version.ts';
import type { Call } from '../lib/http/endpoint.ts';
import { keyedEndpoint } from '../lib/http/keyed-endpoint.ts';
import { givenCredential } from '../lib/registry/credentials.ts';
import { requireSameNode } from '../lib/registry/nodes.ts';
import { findAwaitedUpload, registerVersion } from '../lib/registry/publish.ts';

export const handler = keyedEndpoint(publishNodeVersion, (call) => ({
  reply: async () => {
    const { version, upload } = await registerVersion(call.context, publicationOf(call));
    return { body: { node_version: version, signedUrl: await signUpload(stagingKey(upload)) } };
  },
  // The URL in a kept response expires after fifteen minutes, or once the version is published again.
  refresh: async (kept) => {
    const upload = await findAwaitedUpload(call.context, publicationOf(call), kept.node_version);
    return upload ? { ...kept, signedUrl: await signUpload(stagingKey(upload)) } : kept;
  },
}));

function publicationOf({ path, body, caller }: Call<typeof publishNodeVersion>) {
  const given = givenCredential(body.personal_access_token, caller);
  requireSameNode(path.nodeId, body.node.id, 'body.node.id');
  return { ...path, node: body.node, version: body.node_version, ...given };
}
