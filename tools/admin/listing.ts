import {
  type HistoryRecord,
  historyRecord,
  hostNodeRecord,
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  pickFields,
  type PublisherRecord,
  publisherRecord,
} from '../../lib/registry/records.ts';
import { readVersions } from '../../lib/registry/node-versions.ts';
import { HostNode } from 'registry-rules/schemas/host-node';
import { normalizeVersion } from 'registry-rules/version-label';
import { hostNodeKey, nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import {
  listItems,
  listOwnedNodes,
  newContext,
  noSuchVersion,
  readNode,
  readPublisher,
  scan,
  scanFor,
} from './registry/administration.ts';

/** What administrators look up and count without changing it. */

/** Every publisher, by ID. */
export async function listPublishers(): Promise<PublisherRecord[]> {
  const all = await Array.fromAsync(scanFor(publisherKey('').sk), (item) => publisherRecord(item));
  // One that was renamed or merged is listed under its new id.
  return all.filter(({ moved_to }) => moved_to === undefined).sort((a, b) => a.id.localeCompare(b.id, 'en'));
}

/** Every node, the oldest first. It reads the whole table. */
export async function listAllNodes(): Promise<NodeRecord[]> {
  const all = await Array.fromAsync(scanFor(nodeKey('').sk), (item) => nodeRecord(item));
  return all.sort((a, b) => a.created_at.localeCompare(b.created_at, 'en'));
}

/** The versions with a status, the oldest first. It reads the whole table. */
export async function listVersionsWith(status: string): Promise<NodeVersionRecord[]> {
  const versions = scan({
    FilterExpression: 'begins_with(sk, :sk) AND #status = :status',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':sk': { S: nodeVersionKey('', '').sk }, ':status': { S: status } },
  });
  const all = await Array.fromAsync(versions, (item) => nodeVersionRecord(item));
  return all.sort((a, b) => a.createdAt.localeCompare(b.createdAt, 'en'));
}

/** Every change since a time, the oldest first. It reads the whole table. */
export async function listHistorySince(since: string): Promise<HistoryRecord[]> {
  const entries = scan({
    FilterExpression: 'begins_with(sk, :sk) AND #at >= :since',
    ExpressionAttributeNames: { '#at': 'at' },
    ExpressionAttributeValues: { ':sk': { S: 'HISTORY#' }, ':since': { S: since } },
  });
  const all = await Array.fromAsync(entries, (item) => historyRecord(item));
  return all.sort((a, b) => a.at.localeCompare(b.at, 'en'));
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
  const found = (await readVersions(newContext(), nodeId)).find((each) => each.version === normal);
  if (!found) throw noSuchVersion(nodeId, version);
  return found;
}

export async function showNode(nodeId: string): Promise<{ node: NodeRecord; publisher: PublisherRecord }> {
  const node = await readNode(newContext(), nodeId);
  return { node, publisher: await readPublisher(newContext(), node.publisher_id) };
}

export async function listHostNodes(nodeId: string, version: string): Promise<HostNode[]> {
  const normal = normalizeVersion(version);
  await readNode(newContext(), nodeId);
  const [found] = normal ? await get(newContext(), nodeVersionKey(nodeId, normal)) : [];
  if (!normal || !found) throw noSuchVersion(nodeId, version);
  const items = await listItems(hostNodeKey(nodeId, normal, ''));
  return items.map((item) => pickFields<HostNode>(hostNodeRecord(item), HostNode));
}

/** What a ban of a publisher reaches, as the end of a sentence. */
export async function describePublisher(publisherId: string): Promise<string> {
  const publisher = await readPublisher(newContext(), publisherId);
  const nodeIds = await listOwnedNodes(publisher.id);
  let versions = 0;
  for (const nodeId of nodeIds) versions += (await readVersions(newContext(), nodeId)).length;
  return `the publisher "${publisher.id}" with ${count(nodeIds.length, 'node')} and ${count(versions, 'version')}`;
}

export async function describeNode(nodeId: string): Promise<string> {
  const node = await readNode(newContext(), nodeId);
  const versions = await readVersions(newContext(), node.id);
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
