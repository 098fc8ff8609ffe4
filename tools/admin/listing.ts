import {
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  type PublisherRecord,
  publisherRecord,
} from '../../lib/registry/records.ts';
import { findPublisher, noSuchVersion } from '../../lib/registry/changes.ts';
import { listOwnedNodes } from '../../lib/registry/moves.ts';
import { listVersions } from '../../lib/registry/node-versions.ts';
import { normalizeVersion } from '@node-registry/registry-rules/version-label';
import { nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { newContext, readNode, readPublisher, scan, scanFor } from './registry/administration.ts';

/** Administrators' read-only listings and counts. */

/** Every publisher, by ID. */
export async function listPublishers(): Promise<PublisherRecord[]> {
  const all = await Array.fromAsync(scanFor(publisherKey('').sk), publisherRecord);
  // A renamed or merged publisher is listed under its new id.
  return all.filter(({ moved_to }) => moved_to === undefined).sort((a, b) => a.id.localeCompare(b.id, 'en'));
}

/** Every node, the oldest first. Reads the whole table. */
export async function listAllNodes(): Promise<NodeRecord[]> {
  const all = await Array.fromAsync(scanFor(nodeKey('').sk), nodeRecord);
  return all.sort((a, b) => a.created_at.localeCompare(b.created_at, 'en'));
}

type Wanted = { [Name in 'status' | 'token_id' | 'trust_id']?: string | undefined };

/** The versions with all of these fields, the oldest first, or some fields of each. Reads the whole table. */
export async function findVersions(wanted: Wanted, fields?: string[]): Promise<NodeVersionRecord[]> {
  const all = await Array.fromAsync(scanVersions(wanted, fields), nodeVersionRecord);
  return all.sort((a, b) => a.createdAt.localeCompare(b.createdAt, 'en'));
}

export const bySize = {
  'by-size': { about: 'With the bytes of their archives, the largest first; reads the whole table' },
};

/** With `isBySize`, each has the bytes of its archives, and the largest comes first. */
export async function sized<Owner extends { id: string }>(
  owners: readonly (Owner & { archive_bytes?: number })[],
  of: 'publisher_id' | 'node_id',
  isBySize: boolean | undefined,
): Promise<readonly (Owner & { archive_bytes?: number })[]> {
  if (!isBySize) return owners;
  const bytes = new Map<string, number>();
  for await (const item of scanVersions({}, [of, 'size_bytes'])) {
    const { [of]: id, size_bytes = 0 } = nodeVersionRecord(item);
    bytes.set(id, (bytes.get(id) ?? 0) + size_bytes);
  }
  const all = owners.map((owner) => ({ ...owner, archive_bytes: bytes.get(owner.id) ?? 0 }));
  return all.sort((a, b) => b.archive_bytes - a.archive_bytes);
}

function scanVersions(wanted: Wanted, fields: readonly string[] = []) {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const values = [['sk', nodeVersionKey('', '').sk], ...given] as const;
  return scan({
    FilterExpression: `begins_with(#sk, :sk)${given.map(([name]) => ` AND #${name} = :${name}`).join('')}`,
    ExpressionAttributeNames: Object.fromEntries(values.map(([name]) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(values.map(([name, S = '']) => [`:${name}`, { S }])),
    fields,
  });
}

export async function listNodes(publisherId: string): Promise<NodeRecord[]> {
  await readPublisher(publisherId);
  const nodes: NodeRecord[] = [];
  for (const { node_id } of await listOwnedNodes(newContext(), publisherId)) {
    const node = nodeRecord((await get(newContext(), nodeKey(node_id)))[0]);
    if (node) nodes.push(node);
  }
  return nodes;
}

export async function showNodeVersion(nodeId: string, version: string): Promise<NodeVersionRecord> {
  await readNode(nodeId);
  const normal = normalizeVersion(version);
  const [found] = normal ? await get(newContext(), nodeVersionKey(nodeId, normal)) : [];
  if (!found) throw noSuchVersion(nodeId, version);
  return nodeVersionRecord(found);
}

export async function showNode(nodeId: string): Promise<{ node: NodeRecord; publisher: PublisherRecord }> {
  const node = await readNode(nodeId);
  // It may not have followed a rename yet.
  const publisher = await findPublisher(newContext(), node.publisher_id);
  return { node, publisher: publisher ?? (await readPublisher(node.publisher_id)) };
}

/** The scope of a publisher's ban, as the end of a sentence. */
export async function describePublisher(publisherId: string): Promise<string> {
  const publisher = await readPublisher(publisherId);
  const owned = await listOwnedNodes(newContext(), publisher.id);
  let versions = 0;
  for (const { node_id } of owned) versions += (await listVersions(newContext(), node_id)).length;
  return `the publisher "${publisher.id}" with ${countOf(owned.length, 'node')} and ${countOf(versions, 'version')}`;
}

export async function describeNode(nodeId: string): Promise<string> {
  const node = await readNode(nodeId);
  const versions = await listVersions(newContext(), node.id);
  return `the node "${node.id}" of "${node.publisher_id}" with ${countOf(versions.length, 'version')}`;
}

export async function describeNodeVersion(nodeId: string, version: string): Promise<string> {
  const found = await showNodeVersion(nodeId, version);
  const state = found.status.replace('NodeVersionStatus', '').toLowerCase();
  return `version ${found.version} of "${found.node_id}", which is ${state}`;
}

export function countOf(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
