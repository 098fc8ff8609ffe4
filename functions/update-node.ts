// PUT /publishers/{publisherId}/nodes/{nodeId}
import { updateNode } from '../lib/contracts/update-node.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { changeNode } from '../lib/registry/nodes.ts';

/** `category` is going away; RFC 9745 lets clients hear of it from every answer to a request that uses it. */
const categoryDeprecatedSince = { deprecation: '@1767225600' };

export const handler = endpoint(updateNode, async ({ path, body, caller, ifMatch, deadline }) => {
  const { node, etag } = await changeNode({ ...path, changes: body, editor: caller, ifMatch, deadline });
  return { body: node, headers: { etag, ...(body.category && categoryDeprecatedSince) } };
});
