import type { Context } from '../context.ts';
import { type NodeRecord, nodeRecord, type PublisherRecord, publisherRecord } from '../registry/records.ts';
import type { Item } from '../store/items.ts';
import { type NumbersRecord, numbersRecord } from '../registry/numbers.ts';
import { type Key, nodeKey, numbersKey, publisherKey } from '../store/keys.ts';
import { get } from '../store/read.ts';

export interface NodeOfPublisher {
  node: NodeRecord;
  publisher: PublisherRecord;
  numbers: NumbersRecord | undefined;
  /** The other records that were asked for, read with the node. */
  others: (Item | undefined)[];
}

export async function readNode(
  context: Context,
  nodeId: string,
  ...keys: readonly Key[]
): Promise<NodeOfPublisher | undefined> {
  const [item, numbers, ...others] = await get(context, nodeKey(nodeId), numbersKey(nodeId), ...keys);
  const node = nodeRecord(item);
  if (!node) return undefined;
  const publisher = publisherRecord((await get(context, publisherKey(node.publisher_id)))[0]);
  return publisher && { node, publisher, numbers: numbersRecord(numbers), others };
}
