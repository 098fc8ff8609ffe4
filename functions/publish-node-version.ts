// POST /publishers/{publisherId}/nodes/{nodeId}/versions
import { stagingKey } from '../lib/bucket/object-keys.ts';
import { signUpload } from '../lib/bucket/signed-upload.ts';
import { publishNodeVersion } from '../lib/contracts/publish-node-version.ts';
import { type Call, endpoint } from '../lib/http/endpoint.ts';
import { isObject } from '../lib/json.ts';
import { ciJobOf, givenCredential } from '../lib/registry/credentials.ts';
import { requireSameNode } from '../lib/registry/nodes.ts';
import { findAwaitedUpload, registerVersion } from '../lib/registry/publish.ts';

export const handler = endpoint(
  publishNodeVersion,
  async (call) => {
    const { version, upload } = await registerVersion(call.context, publicationOf(call));
    return { body: { node_version: version, signedUrl: await signUpload(stagingKey(upload)) } };
  },
  {
    jobOf: ciJobOf,
    // The URL in a kept response expires after fifteen minutes, or once the version is published again.
    refresh: async (kept, call) => {
      const upload = await findAwaitedUpload(call.context, publicationOf(call), kept.node_version);
      return upload ? { ...kept, signedUrl: await signUpload(stagingKey(upload)) } : kept;
    },
  },
);

function publicationOf({ path, body, sent, caller, job }: Call<typeof publishNodeVersion>) {
  const given = givenCredential(body.personal_access_token, job);
  requireSameNode(path.nodeId, body.node.id, 'body.node.id');
  return { ...path, node: body.node, version: body.node_version, label: labelIn(sent), ...given, caller };
}

/** The label as sent: the checked body has its normal form. */
function labelIn(sent: unknown): string {
  const version = isObject(sent) && isObject(sent.node_version) ? sent.node_version.version : undefined;
  return String(version);
}
