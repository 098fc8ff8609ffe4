import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { type NodeRecord, nodeRecord } from '../../lib/registry/records.ts';
import { type AttributeMap, fromAttributes, type Item } from '../../lib/store/items.ts';
import { hostNodeKey, nodeKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';

/** One name that the latest versions of several nodes have. The host application loads one of them. */
export interface Clash {
  name: string;
  /** The oldest node first, which probably had the name first. */
  nodes: Pick<NodeRecord, 'id' | 'publisher_id' | 'created_at'>[];
}

/** A page holds up to 1 MB. */
const maxPages = 100_000;
const hostNodePrefix = hostNodeKey('', '', '').sk;
const nodeSortKey = nodeKey('').sk;

/**
 * Names of host nodes that several nodes share. No function needs an index by name, so this reads the whole table, which
 * costs as much as the table is large.
 */
export async function listClashes(): Promise<Clash[]> {
  const nodes = new Map<string, NodeRecord>();
  const names = new Map<string, string[]>();
  for await (const item of scan()) {
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

/** Nodes, and the keys of host nodes. */
async function* scan(): AsyncGenerator<Item> {
  let start: AttributeMap | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { Items = [], LastEvaluatedKey } = await dynamodb.send(
      new ScanCommand({
        TableName: tableName(),
        FilterExpression: 'sk = :node OR begins_with(sk, :hostNode)',
        ProjectionExpression: 'pk, sk, id, publisher_id, created_at, #status, latest_version',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':node': { S: nodeSortKey }, ':hostNode': { S: hostNodePrefix } },
        ExclusiveStartKey: start,
      }),
    );
    yield* Items.map(fromAttributes);
    if (!LastEvaluatedKey) return;
    start = LastEvaluatedKey;
  }
  throw new Error('The listing of host nodes does not end.');
}
