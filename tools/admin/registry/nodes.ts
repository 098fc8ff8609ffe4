import {
  hostNodeRecord,
  type NodeRecord,
  type PublisherRecord,
  pickFields,
} from '../../../lib/registry/records.ts';
import { HostNode } from 'registry-rules/schemas/host-node';
import { normalizeVersion } from 'registry-rules/version-label';
import { hostNodeKey, nodeKey, nodeVersionKey } from '../../../lib/store/keys.ts';
import { type Changes, onRevision } from '../../../lib/store/items.ts';
import { get } from '../../../lib/store/read.ts';
import { updating } from '../../../lib/store/write.ts';
import { administerChange, listItems, newContext } from './administration.ts';
import { alignVersions } from './node-versions.ts';
import { noSuchVersion, readNode, readPublisher } from './records.ts';

export async function showNode(nodeId: string): Promise<{ node: NodeRecord; publisher: PublisherRecord }> {
  const node = await readNode(newContext(), nodeId);
  return { node, publisher: await readPublisher(newContext(), node.publisher_id) };
}

const banned = 'NodeStatusBanned';
const ban = (reason: string) => ({ status: banned, status_detail: reason }) as const;

/**
 * Stops updates of a node, its host nodes and new versions, and the downloads of those that it has. Returns whether this
 * changed something.
 */
export async function banNode(nodeId: string, reason: string): Promise<boolean> {
  const change = { action: 'node ban', detail: reason };
  const changed = await changeNodeStatus(nodeId, change, ({ status, status_detail }) => {
    if (status !== banned) return { ...ban(reason), before_ban: { status, status_detail } };
    return status_detail === reason ? undefined : ban(reason);
  });
  return (await alignVersions(nodeId, 'node')) > 0 || changed;
}

export async function unbanNode(nodeId: string): Promise<boolean> {
  const changed = await changeNodeStatus(nodeId, { action: 'node unban' }, ({ status, before_ban }) =>
    status === banned
      ? { status: 'NodeStatusActive', status_detail: null, ...before_ban, before_ban: null }
      : undefined,
  );
  return (await alignVersions(nodeId, 'node')) > 0 || changed;
}

export async function listHostNodes(nodeId: string, version: string): Promise<HostNode[]> {
  const normal = normalizeVersion(version);
  await readNode(newContext(), nodeId);
  const [found] = normal ? await get(newContext(), nodeVersionKey(nodeId, normal)) : [];
  if (!normal || !found) throw noSuchVersion(nodeId, version);
  const items = await listItems(hostNodeKey(nodeId, normal, ''));
  return items.map((item) => pickFields<HostNode>(hostNodeRecord(item), HostNode));
}

async function changeNodeStatus(
  nodeId: string,
  change: { action: string; detail?: string },
  decide: (node: NodeRecord) => Changes<NodeRecord> | undefined,
): Promise<boolean> {
  const { changed } = await administerChange(async (context) => {
    const node = await readNode(context, nodeId);
    const changes = decide(node);
    if (!changes) return { done: node };
    return {
      change: { of: nodeKey(nodeId), subject: node.id, ...change },
      writes: [updating<NodeRecord>(node, changes, onRevision(node))],
      result: node,
    };
  });
  return changed;
}
