import { type NodeRecord, nodeRecord, type Operator } from '../../../lib/registry/records.ts';
import { nodeKey } from '../../../lib/store/keys.ts';
import { present } from '../../../lib/store/items.ts';
import { updating } from '../../../lib/store/write.ts';
import { existingNode } from '../../../lib/registry/changes.ts';
import { administer } from './administration.ts';

/** Sets how many versions a node may have. Returns whether that changed. */
export async function limitVersions(actor: Operator, nodeId: string, max_versions: number): Promise<boolean> {
  const key = nodeKey(nodeId);
  const { changed } = await administer(actor, { first: { item: key } }, ({ item }) => {
    const node = existingNode(item, nodeId);
    if (nodeRecord(item)?.max_versions === max_versions) return { done: node };
    return {
      change: { of: key, action: 'node limit', subject: node.id, detail: `${max_versions} versions` },
      writes: [updating<NodeRecord>(key, { max_versions }, present)],
      result: node,
    };
  });
  return changed;
}
