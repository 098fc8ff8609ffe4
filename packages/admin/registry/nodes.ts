import { updating } from '../../../lib/store/write.ts';
import {
  hostNodeRecord,
  type NodeRecord,
  type PublisherRecord,
  shownFields,
} from '../../../lib/registry/records.ts';
import { HostNode } from '../../../lib/schemas/host-node.ts';
import { normalizeVersion } from '../../../lib/schemas/version-label.ts';
import { hostNodeKey, nodeKey, nodeVersionKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { administerChange, listItems, newContext } from './administration.ts';
import { banVersionsOfNode, unbanVersionsOfNode } from './node-versions.ts';
import { noSuchVersion, readNode, readPublisher } from './records.ts';
import { Rejection } from './rejection.ts';

export async function showNode(nodeId: string): Promise<{ node: NodeRecord; publisher: PublisherRecord }> {
  const node = await readNode(newContext(), nodeId);
  return { node, publisher: await readPublisher(newContext(), node.publisher_id) };
}

/**
 * Stops updates of a node, its host nodes and new versions, and the downloads of those that it has. Returns whether this
 * changed something.
 */
export async function banNode(nodeId: string, reason: string): Promise<boolean> {
  const changed = await changeNodeStatus(
    nodeId,
    { action: 'node ban', detail: reason },
    ({ status, status_detail }) =>
      status === 'NodeStatusBanned' && status_detail === reason
        ? undefined
        : { status: 'NodeStatusBanned', status_detail: reason },
  );
  return (await banVersionsOfNode(nodeId, 'node', reason)) > 0 || changed;
}

export async function unbanNode(nodeId: string): Promise<boolean> {
  const changed = await changeNodeStatus(nodeId, { action: 'node unban' }, ({ status }) =>
    status === 'NodeStatusBanned' ? { status: 'NodeStatusActive', status_detail: null } : undefined,
  );
  return (await unbanVersionsOfNode(nodeId, 'node')) > 0 || changed;
}

export async function listHostNodes(nodeId: string, version: string): Promise<HostNode[]> {
  const normal = normalizeVersion(version);
  await readNode(newContext(), nodeId);
  const [found] = normal ? await get(newContext(), nodeVersionKey(nodeId, normal)) : [];
  if (!normal || !found) throw noSuchVersion(nodeId, version);
  const items = await listItems(hostNodeKey(nodeId, normal, ''));
  return items.map((item) => shownFields<HostNode>(hostNodeRecord(item), HostNode));
}

interface StatusChange {
  status: NodeRecord['status'];
  status_detail: string | null;
}

async function changeNodeStatus(
  nodeId: string,
  change: { action: string; detail?: string },
  decide: (node: NodeRecord) => StatusChange | undefined,
): Promise<boolean> {
  const { changed } = await administerChange(async (context) => {
    const node = await readNode(context, nodeId);
    if (node.status === 'NodeStatusDeleted') throw new Rejection(`The node "${node.id}" is deleted.`);
    const changes = decide(node);
    if (!changes) return { done: node };
    return {
      change: { of: nodeKey(nodeId), subject: node.id, ...change },
      writes: [updating<NodeRecord>(node, changes, [['revision', '=', node.revision]])],
      result: node,
    };
  });
  return changed;
}
