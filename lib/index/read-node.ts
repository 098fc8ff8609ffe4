import type { Context } from '../context.ts';
import { type NodeRecord, nodeRecord, type PublisherRecord, publisherRecord } from '../registry/records.ts';
import { nodeKey, publisherKey } from '../store/keys.ts';
import { get } from '../store/read.ts';

export interface OwnedNode {
  node: NodeRecord;
  publisher: PublisherRecord;
}

export async function readNode(context: Context, nodeId: string): Promise<OwnedNode | undefined> {
  const node = nodeRecord((await get(context, nodeKey(nodeId)))[0]);
  if (!node) return undefined;
  const publisher = publisherRecord((await get(context, publisherKey(node.publisher_id)))[0]);
  return publisher && { node, publisher };
}
