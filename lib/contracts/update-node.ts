import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { NodeId, PublisherId } from '../schemas/names.ts';
import { Node, NodeInput } from '../schemas/node.ts';

export const updateNode = contract({
  name: 'updateNode',
  method: 'PUT',
  path: '/publishers/{publisherId}/nodes/{nodeId}',
  summary: 'Update a node',
  description:
    'Changes the metadata of a node that the publisher owns: an absent field is kept, null clears it. Answers the whole node with an ETag; If-Match is honored.',
  access: 'user',
  parameters: z.object({ publisherId: PublisherId, nodeId: NodeId }),
  body: NodeInput,
  freeForm: { field: 'translations' },
  reply: Node,
  status: 200,
  errors: [
    'forbidden',
    'node_banned',
    'publisher_banned',
    'publisher_not_found',
    'node_not_found',
    'conflict',
    'precondition_failed',
    'record_too_large',
  ],
  headers: { request: ['If-Match'], reply: ['ETag', 'Deprecation'] },
});
