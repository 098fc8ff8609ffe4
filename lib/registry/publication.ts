import type { Context } from '../context.ts';
import type { Caller } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import type { NodeInput } from '@node-registry/registry-rules/schemas/node';
import type { NodeVersionInput } from '@node-registry/registry-rules/schemas/node-version';
import { isSameNodeId, nodeKey, nodeVersionKey, publisherKey, publishingKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import {
  type AcceptedCredential,
  type GivenCredential,
  keyOfCredential,
  readTrusts,
  requireCredential,
} from './credentials.ts';
import {
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type PublishingRecord,
  publishingRecord,
} from './records.ts';
import { requireNotBannedNode } from './nodes.ts';
import { movedTo, requireMember, requireNotBanned, requirePublisher } from './publishers.ts';

/** A publish as requested. */
export type Publication = GivenCredential & RequestedVersion;

interface RequestedVersion {
  publisherId: string;
  nodeId: string;
  node: NodeInput;
  version: NodeVersionInput;
  /** The version's label as sent; absent if it was sent in its normal form. */
  label?: string;
  caller: Caller | undefined;
}

/** The stored records that a publish depends on. */
export interface Standing {
  credential: AcceptedCredential;
  publishing: PublishingRecord | undefined;
  node: NodeRecord | undefined;
  existing: NodeVersionRecord | undefined;
}

/** Reads everything that a publish depends on, in one round trip, and rejects a forbidden publish. */
export async function readStanding(
  context: Context,
  publication: Publication,
): Promise<Standing | { movedTo: string }> {
  const { publisherId, nodeId, version, job, caller } = publication;
  const versionKey = nodeVersionKey(nodeId, version.version);
  note({ publisher_id: publisherId, node_id: nodeId, version: version.version });
  const [[publisherItem, publishingItem, credentialItem, nodeItem, versionItem], trusts] = await Promise.all([
    get(
      context,
      publisherKey(publisherId),
      publishingKey(publisherId),
      keyOfCredential(publisherId, publication),
      nodeKey(nodeId),
      versionKey,
    ),
    job ? readTrusts(context, publisherId) : [],
  ]);
  const moved = movedTo(publisherItem, publisherId);
  if (moved !== undefined) return { movedTo: moved };
  const publisher = requirePublisher(publisherItem);
  const credential = requireCredential(publication, { item: credentialItem, trusts }, { nodeId, versionKey });
  if (caller && !caller.isAdmin) requireMember(publisher, caller.userId);
  requireNotBanned(publisher);
  const node = nodeRecord(nodeItem);
  if (node) requireOwnNode(publication, node);
  const publishing = publishingRecord(publishingItem);
  return { credential, publishing, node, existing: nodeVersionRecord(versionItem) };
}

function requireOwnNode({ publisherId, nodeId }: Publication, node: NodeRecord): void {
  if (!isSameNodeId(node.id, nodeId)) throw new ApiError('node_id_taken');
  if (node.publisher_id !== publisherId) {
    throw new ApiError('forbidden', { message: 'The node belongs to another publisher.' });
  }
  if (node.status === 'NodeStatusDeleted') {
    throw new ApiError('node_id_taken', {
      message:
        'The node is withdrawn and takes no new version. Update it with status NodeStatusActive, then publish again.',
    });
  }
  requireNotBannedNode(node);
}
