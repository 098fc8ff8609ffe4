import { type NodeRecord, nodeRecord } from '../../lib/registry/records.ts';
import { hostNodeKey, nodeKey } from '../../lib/store/keys.ts';
import { scan } from './registry/administration.ts';

/** One name that the latest versions of several nodes have. The host application loads one of them. */
export interface Clash {
  name: string;
  /** The oldest node first, which probably had the name first. */
  nodes: Pick<NodeRecord, 'id' | 'publisher_id' | 'created_at'>[];
}

const hostNodePrefix = hostNodeKey('', '', '').sk;
const nodeSortKey = nodeKey('').sk;

/** Nodes, and the keys of host nodes. */
const nodesAndNames = {
  FilterExpression: 'sk = :node OR begins_with(sk, :hostNode)',
  ProjectionExpression: 'pk, sk, id, publisher_id, created_at, #status, latest_version',
  ExpressionAttributeNames: { '#status': 'status' },
  ExpressionAttributeValues: { ':node': { S: nodeSortKey }, ':hostNode': { S: hostNodePrefix } },
};

/** Names of host nodes that several nodes share. */
export async function listClashes(): Promise<Clash[]> {
  const nodes = new Map<string, NodeRecord>();
  const names = new Map<string, string[]>();
  for await (const item of scan(nodesAndNames)) {
    const [pk, sk] = [String(item.pk), String(item.sk)];
    if (sk === nodeSortKey) {
      const node = nodeRecord(item);
      const latest = node.status === 'NodeStatusActive' ? node.latest_version : undefined;
      if (latest) nodes.set(hostNodeKey(node.id, latest.version, '').pk, node);
    } else {
      const name = sk.slice(hostNodePrefix.length);
      names.set(name, [...(names.get(name) ?? []), pk]);
    }
  }
  const clashes = [...names].map(([name, places]) => ({
    name,
    nodes: places
      .flatMap((place) => nodes.get(place) ?? [])
      .map(({ id, publisher_id, created_at }) => ({ id, publisher_id, created_at }))
      .sort((a, b) => a.created_at.localeCompare(b.created_at, 'en')),
  }));
  return clashes
    .filter((clash) => clash.nodes.length > 1)
    .sort((a, b) => b.nodes.length - a.nodes.length || a.name.localeCompare(b.name, 'en'));
}
