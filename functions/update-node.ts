// PUT /publishers/{publisherId}/nodes/{nodeId}
import { updateNode } from '../lib/contracts/update-node.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { changeNode, etagOf, nodeView, requireSameNode } from '../lib/registry/nodes.ts';

/** `category` is deprecated. Each response to a request that uses it says so (RFC 9745). */
const categoryDeprecatedSince = { deprecation: '@1767225600' };

export const handler = endpoint(updateNode, async ({ path, body, caller, ifMatch, context }) => {
  requireSameNode(path.nodeId, body.id, 'body.id');
  const owned = await changeNode(context, { ...path, changes: body, caller, ifMatch });
  return {
    body: nodeView(owned),
    headers: { etag: etagOf(owned.node), ...(body.category && categoryDeprecatedSince) },
  };
});
