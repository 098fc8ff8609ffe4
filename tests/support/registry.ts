import type { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import { putMember } from '../../lib/registry/members.ts';
import { createPublisher } from '../../lib/registry/profiles.ts';
import { storedHostNodes } from '../../lib/index/node-files.ts';
import {
  hostNodeView,
  type NodeRecord,
  nodeRecord,
  nodeVersionRecord,
  standingEntry,
} from '../../lib/registry/records.ts';
import { createToken } from '../../lib/registry/tokens.ts';
import type { Item } from '../../lib/store/items.ts';
import { type Key, nodeKey, nodeVersionKey, ownedNodeKey, publisherKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { putting, updating, write } from '../../lib/store/write.ts';
import { intercept } from './intercept.ts';
import './patience.ts';

/** State for tests that need more than the seed. It is written and read without the endpoints. */

const operator = { operator: 'admin' };

/** More time than any test takes. */
export const soon = () => ({ deadline: Date.now() + 60_000 });

export async function addPublisher(id: string, members: Record<string, 'owner' | 'member'>): Promise<void> {
  const known = await storedItem(publisherKey(id));
  if (!known) await createPublisher(soon(), operator, { id, name: id });
  for (const [user, role] of Object.entries(members)) await putMember(soon(), operator, id, user, { role });
}

export async function addToken(publisherId: string, days = 1): Promise<string> {
  const expires_at = new Date(Date.now() + days * 86_400_000).toISOString();
  return (await createToken(soon(), operator, { publisherId, label: 'test', expires_at })).token;
}

export async function addNode(publisherId: string, id: string, fields: Item = {}): Promise<void> {
  const created_at = new Date().toISOString();
  const node = {
    id,
    publisher_id: publisherId,
    status: 'NodeStatusActive',
    created_at,
    revision: 1,
    ...fields,
  };
  await putItem({ ...nodeKey(id), ...node });
  await putItem({ ...ownedNodeKey(publisherId, id), node_id: id, created_at });
}

export async function addVersion(
  publisherId: string,
  nodeId: string,
  version: string,
  fields: Item = {},
): Promise<void> {
  const record = {
    id: `${nodeId}-${version}`,
    node_id: nodeId,
    publisher_id: publisherId,
    version,
    createdAt: '2026-11-01T00:00:00.000Z',
    revision: 1,
  };
  await putItem({
    ...nodeVersionKey(nodeId, version),
    ...record,
    status: 'NodeVersionStatusActive',
    ...fields,
  });
}

export async function setPublisherFields(id: string, fields: Item): Promise<void> {
  await setFields(publisherKey(id), fields);
}

/** Changes an existing record; null removes a field. */
export async function setFields(key: Key, fields: Item): Promise<void> {
  const isWritten = await write(soon(), updating<Key & Item>(key, fields, [['pk', 'exists']]));
  if (!isWritten) throw new Error(`There is no record ${key.pk} ${key.sk}.`);
}

export async function putItem(item: Key & Item): Promise<void> {
  await write(soon(), putting(item, []));
}

export async function storedItem(key: Key): Promise<Item | undefined> {
  const [item] = await get(soon(), key);
  return item;
}

/** The host nodes that a version shows. */
export async function shownHostNodes(nodeId: string, label = '1.0.0'): Promise<HostNode[]> {
  const version = nodeVersionRecord({ ...(await storedItem(nodeVersionKey(nodeId, label))) });
  const entries = await storedHostNodes(soon(), nodeId, label);
  return entries
    .flatMap((entry) => standingEntry(entry, version) ?? [])
    .map((entry) => hostNodeView(entry, undefined));
}

export async function storedNode(id: string): Promise<NodeRecord | undefined> {
  return nodeRecord(await storedItem(nodeKey(id)));
}

/** The commands that some work sent to DynamoDB, in order. */
export async function countRequests<T>(work: () => Promise<T>): Promise<{ result: T; requests: string[] }> {
  const requests: string[] = [];
  const stop = intercept(dynamodb, ({ command, send }) => {
    requests.push(command);
    return send();
  });
  return { result: await work().finally(stop), requests };
}
