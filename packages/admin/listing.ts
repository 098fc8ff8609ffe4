import { ScanCommand } from '@aws-sdk/client-dynamodb';
import {
  type NodeRecord,
  type NodeVersionRecord,
  nodeRecord,
  type PublisherRecord,
  publisherRecord,
} from '../../lib/registry/records.ts';
import { normalizeVersion } from '../../lib/schemas/version-label.ts';
import { type AttributeMap, fromAttributes } from '../../lib/store/items.ts';
import { nodeKey, publisherKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { newContext } from './registry/administration.ts';
import { listOwnedNodes } from './registry/node-versions.ts';
import { noSuchVersion, readNode, readPublisher, readVersions } from './registry/records.ts';

/** What administrators look up and count without changing it. */

/** A page holds up to 1 MB. */
const maxPages = 100_000;

/**
 * Every publisher, by ID. No function needs an index of them, so this reads the whole table, which costs as much as the
 * table is large.
 */
export async function listPublishers(): Promise<PublisherRecord[]> {
  const publishers: PublisherRecord[] = [];
  let start: AttributeMap | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { Items = [], LastEvaluatedKey } = await dynamodb.send(
      new ScanCommand({
        TableName: tableName(),
        FilterExpression: 'sk = :sk',
        ExpressionAttributeValues: { ':sk': { S: publisherKey('').sk } },
        ExclusiveStartKey: start,
      }),
    );
    for (const item of Items) {
      const publisher = publisherRecord(fromAttributes(item));
      if (publisher) publishers.push(publisher);
    }
    if (!LastEvaluatedKey) return publishers.sort((a, b) => a.id.localeCompare(b.id, 'en'));
    start = LastEvaluatedKey;
  }
  throw new Error('The listing of publishers does not end.');
}

export async function listNodes(publisherId: string): Promise<NodeRecord[]> {
  await readPublisher(newContext(), publisherId);
  const nodes: NodeRecord[] = [];
  for (const nodeId of await listOwnedNodes(publisherId)) {
    const node = nodeRecord((await get(newContext(), nodeKey(nodeId)))[0]);
    if (node) nodes.push(node);
  }
  return nodes;
}

export async function showNodeVersion(nodeId: string, version: string): Promise<NodeVersionRecord> {
  await readNode(newContext(), nodeId);
  const normal = normalizeVersion(version);
  const found = (await readVersions(nodeId)).find((each) => each.version === normal);
  if (!found) throw noSuchVersion(nodeId, version);
  return found;
}

/** What a ban of a publisher reaches, as the end of a sentence. */
export async function describePublisher(publisherId: string): Promise<string> {
  const publisher = await readPublisher(newContext(), publisherId);
  const nodeIds = await listOwnedNodes(publisher.id);
  let versions = 0;
  for (const nodeId of nodeIds) versions += (await readVersions(nodeId)).length;
  return `the publisher "${publisher.id}" with ${count(nodeIds.length, 'node')} and ${count(versions, 'version')}`;
}

export async function describeNode(nodeId: string): Promise<string> {
  const node = await readNode(newContext(), nodeId);
  const versions = await readVersions(node.id);
  return `the node "${node.id}" of "${node.publisher_id}" with ${count(versions.length, 'version')}`;
}

export async function describeNodeVersion(nodeId: string, version: string): Promise<string> {
  const found = await showNodeVersion(nodeId, version);
  const state = found.status.replace('NodeVersionStatus', '').toLowerCase();
  return `version ${found.version} of "${found.node_id}", which is ${state}`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
