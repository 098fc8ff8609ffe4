import type { HostNode } from '../../../lib/schemas/host-node.ts';
import type { Node } from '../../../lib/schemas/node.ts';
import { normalizeVersion } from '../../../lib/schemas/version-label.ts';
import { newDeadline, untilWritten } from './administration.ts';
import { type Item, toAttributes } from '../../../lib/store/attribute-values.ts';
import { update } from '../../../lib/store/expressions.ts';
import { hostNodeKey, isSameNodeId, nodeKey, nodeVersionKey, publisherKey } from '../../../lib/store/keys.ts';
import { listItems } from './listing.ts';
import { nodeView } from '../../../lib/registry/nodes.ts';
import { requirePublisher } from '../../../lib/registry/publishers.ts';
import { Refusal } from './refusal.ts';
import { readTogether, tableName, transact } from '../../../lib/store/table.ts';

export async function showNode(nodeId: string): Promise<Node> {
  const node = await readNode(nodeId, newDeadline());
  const [publisher] = await readTogether(newDeadline(), publisherKey(String(node.publisher_id)));
  return nodeView(node, requirePublisher(publisher));
}

/** Stops updates of a node, its host nodes and new versions; what is published stays readable in bulk. */
export function banNode(nodeId: string, reason: string): Promise<void> {
  return changeNodeStatus(nodeId, () => ({ status: 'NodeStatusBanned', status_detail: reason }));
}

export function unbanNode(nodeId: string): Promise<void> {
  return changeNodeStatus(nodeId, ({ status }) =>
    status === 'NodeStatusBanned' ? { status: 'NodeStatusActive', status_detail: null } : undefined,
  );
}

export async function listHostNodes(nodeId: string, version: string): Promise<HostNode[]> {
  const normal = normalizeVersion(version);
  await readNode(nodeId, newDeadline());
  const [found] = normal ? await readTogether(newDeadline(), nodeVersionKey(nodeId, normal)) : [];
  if (!normal || !found) throw noSuchVersion(nodeId, version);
  const items = await listItems(hostNodeKey(nodeId, normal, ''));
  return items.map(({ pk: _, sk: __, revision: ___, ...fields }) => fields as HostNode);
}

export async function readNode(nodeId: string, deadline: number): Promise<Item> {
  const [node] = await readTogether(deadline, nodeKey(nodeId));
  if (!node) throw new Refusal(`There is no node "${nodeId}".`);
  if (!isSameNodeId(String(node.id), nodeId))
    throw new Refusal(`There is no node "${nodeId}"; did you mean "${node.id}"?`);
  return node;
}

export function noSuchVersion(nodeId: string, version: string): Refusal {
  return new Refusal(`The node "${nodeId}" has no version "${version}".`);
}

async function changeNodeStatus(
  nodeId: string,
  decide: (node: Item) => Record<string, unknown> | undefined,
): Promise<void> {
  await untilWritten(async (deadline) => {
    const node = await readNode(nodeId, deadline);
    if (node.status === 'NodeStatusDeleted') throw new Refusal(`The node "${node.id}" is deleted.`);
    const changes = decide(node);
    if (!changes) return true;
    const expression = update(changes, ['revision', '=', node.revision]);
    const key = toAttributes(nodeKey(nodeId));
    const failed = await transact([{ Update: { TableName: tableName, Key: key, ...expression } }], deadline);
    return failed ? undefined : true;
  });
}
