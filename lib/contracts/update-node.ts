import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { type Deployed, publicFiles, registryCaller } from '../deployment.ts';
import { NodeId, PublisherId } from '@node-registry/registry-rules/names';
import { Node, NodeInput } from '@node-registry/registry-rules/schemas/node';
import { samplePublishedVersion, samplePublisher } from '../schemas/samples.ts';

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
  asWritten: ['translations'],
  reply: Node,
  status: 200,
  errors: [
    'forbidden',
    'caller_blocked',
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

export const deployedUpdateNode: Deployed<typeof updateNode> = {
  contract: updateNode,
  deployment: () => ({
    variables: [...registryCaller, ...publicFiles],
    rights: [
      { table: ['BatchGetItem'], keys: ['nodes', 'publishers', 'blocks'] },
      { table: ['UpdateItem'], keys: ['nodes'] },
    ],
    sampleReply: {
      id: 'demo-node',
      name: 'Demo Node',
      description: 'A node to try the service with, with a new description.',
      tags: ['demo', 'image'],
      repository: 'https://example.com/demo-node',
      status: 'NodeStatusActive',
      created_at: '2026-11-20T12:00:00.000Z',
      publisher: samplePublisher,
      latest_version: samplePublishedVersion(),
    },
  }),
};
