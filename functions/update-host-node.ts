// PUT /nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName+}
import { updateHostNode } from '../lib/contracts/update-host-node.ts';
import { endpoint } from '../lib/http/endpoint.ts';
import { changeHostNode } from '../lib/registry/host-nodes.ts';

export const handler = endpoint(updateHostNode, async ({ path, body, caller, context }) => ({
  body: await changeHostNode(context, { ...path, changes: body, caller }),
}));
