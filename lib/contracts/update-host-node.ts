import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { type Deployed, registryCaller } from '../deployment.ts';
import { HostNode, HostNodeInput } from '@node-registry/registry-rules/schemas/host-node';
import { HostNodeName, NodeId } from '@node-registry/registry-rules/names';

export const updateHostNode = contract({
  name: 'updateHostNode',
  method: 'PUT',
  path: '/nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName+}',
  summary: 'Update a host node',
  description:
    'Changes one node definition inside a node version: an absent field is kept, null clears it. An absent entry is created until the host nodes have been read from the archive; then unknown names are not found. Encode "/", "?", "#" and "%" in the name twice; a query string is rejected.',
  access: 'user',
  parameters: z.object({
    nodeId: NodeId,
    version: z.string().with(z.describe('Version label; anything but a semantic version is not found')),
    hostNodeName: HostNodeName,
  }),
  body: HostNodeInput,
  reply: HostNode,
  status: 200,
  errors: [
    'forbidden',
    'caller_blocked',
    'node_banned',
    'publisher_banned',
    'node_not_found',
    'node_version_not_found',
    'host_node_not_found',
    'conflict',
    'record_too_large',
  ],
});

export const deployedUpdateHostNode: Deployed<typeof updateHostNode> = {
  contract: updateHostNode,
  deployment: () => ({
    variables: registryCaller,
    rights: [
      { table: ['BatchGetItem'], keys: ['nodes', 'publishers', 'blocks'] },
      // It queries the names of a version to suggest the one that was meant.
      { table: ['Query', 'UpdateItem'], keys: ['nodes'] },
    ],
    sampleReply: {
      host_node_name: 'Load Image (demo)',
      category: 'image/load',
      description: 'Loads an image',
      experimental: false,
      function: 'load',
      output_is_list: [false],
      policy: 'HostNodePolicyActive',
      return_names: 'image',
      return_types: 'IMAGE',
    },
  }),
};
