import type { Context } from '../../../lib/context.ts';
import {
  type NodeRecord,
  nodeRecord,
  type PublisherRecord,
  publisherRecord,
} from '../../../lib/registry/records.ts';
import { isSameNodeId, nodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { Rejection } from './rejection.ts';

/** The named record, or an error sentence if it doesn't exist. */

export async function readPublisher(context: Context, publisherId: string): Promise<PublisherRecord> {
  const [item] = await get(context, publisherKey(publisherId));
  const publisher = publisherRecord(item);
  if (!publisher) throw new Rejection(`There is no publisher "${publisherId}".`);
  if (publisher.moved_to !== undefined)
    throw new Rejection(`The publisher "${publisherId}" is "${publisher.moved_to}" now.`);
  if (publisher.id !== publisherId) throw new Rejection(`The publisher's id is "${publisher.id}".`);
  return publisher;
}

export async function readNode(context: Context, nodeId: string): Promise<NodeRecord> {
  const [item] = await get(context, nodeKey(nodeId));
  const node = nodeRecord(item);
  if (!node) throw new Rejection(`There is no node "${nodeId}".`);
  if (!isSameNodeId(node.id, nodeId))
    throw new Rejection(`There is no node "${nodeId}"; did you mean "${node.id}"?`);
  return node;
}

export function noSuchVersion(nodeId: string, version: string): Rejection {
  return new Rejection(`The node "${nodeId}" has no version "${version}".`);
}
