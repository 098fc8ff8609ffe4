import { randomUUID } from 'node:crypto';
import { ScanCommand, type ScanCommandInput } from '@aws-sdk/client-dynamodb';
import type { Context } from '../../../lib/context.ts';
import { type Changed, change, type Outcome } from '../../../lib/registry/changes.ts';
import { versionWrites } from '../../../lib/registry/node-versions.ts';
import {
  type Change,
  historyOf,
  type HistoryRecord,
  historyRecord,
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  ownedNodeRecord,
  type PublisherRecord,
  publisherRecord,
} from '../../../lib/registry/records.ts';
import { normalizeVersion } from '@node-registry/registry-rules/version-label';
import {
  type AttributeMap,
  type Changes,
  fromAttributes,
  type Item,
  withChanges,
} from '../../../lib/store/items.ts';
import {
  historyKeysOf,
  isSameNodeId,
  type Key,
  nodeKey,
  nodeVersionKey,
  ownedNodesOf,
  publisherKey,
} from '../../../lib/store/keys.ts';
import { get, queryAll } from '../../../lib/store/read.ts';
import type { Found, Once, Read, Reads } from '../../../lib/store/decide.ts';
import { dynamodb, tableName, untilAnswered } from '../../../lib/store/dynamodb.ts';
import type { Write } from '../../../lib/store/write.ts';

/*
 * Changes without an endpoint. Each reads, decides, and writes on the condition that the read state still
 * holds, so it undoes no publish, upload or other administrator's change. Its transaction includes a history
 * record.
 */

const patienceMs = 10_000;

export function newContext(): Context {
  return { deadline: Date.now() + patienceMs };
}

export type { Changed };

/** Writes a decision with its history, which names the actor. */
export const administer: Administer = (...decided) => change(newContext(), ...decided);

type Administer = <const First extends readonly Read[], Result, const Then extends readonly Read[] = []>(
  actor: string,
  reads: Reads<First, Then>,
  decision: (found: [...Found<First>, ...Found<Then>], once: Once) => Outcome<Result>,
) => Promise<Changed<Result>>;

/** Changes a version, with history, and the node's copy of its latest version. */
export function changeStatus(
  actor: string,
  nodeId: string,
  version: string,
  change: { action: string; detail?: string },
  decision: (current: NodeVersionRecord, history: HistoryRecord[]) => Changes<NodeVersionRecord> | undefined,
): Promise<Changed<NodeVersionRecord>> {
  const normal = normalizeVersion(version);
  const key = nodeKey(nodeId);
  const first = [key, { below: historyKeysOf(key) }] as const;
  const following = () => [{ below: nodeVersionKey(nodeId, '') }] as const;
  return administer(actor, { first, following }, ([nodeItem, history, versionItems]) => {
    const node = nodeIn(nodeItem, nodeId);
    const versions = versionItems.map((item) => nodeVersionRecord(item));
    const current = versions.find((each) => each.version === normal);
    if (!current) throw noSuchVersion(nodeId, version);
    const changes = decision(current, latestFirst(history));
    if (!changes) return { done: current };
    return {
      change: { of: key, subject: `${node.id} ${current.version}`, ...change },
      writes: versionWrites(node, versions, [{ before: current, changes }]),
      result: withChanges(current, changes),
    };
  });
}

/** The history entry of an administrator's change. */
export function adminHistory(
  actor: string,
  change: Change,
  once: Once = { id: randomUUID(), now: Date.now() },
): Write {
  return historyOf(actor, change, once);
}

/** The changes of administrators and owners to a publisher or a node, the latest first. */
export async function listHistory(key: Key): Promise<HistoryRecord[]> {
  return latestFirst(await listItems(historyKeysOf(key)));
}

function latestFirst(items: readonly Item[]): HistoryRecord[] {
  return items.map((item) => historyRecord(item)).reverse();
}

/** Every item of a partition whose sort key begins as the given one does, in the order of their sort keys. */
export function listItems(key: Key): Promise<Item[]> {
  return queryAll(newContext(), key);
}

/** The named record, or an error sentence if it doesn't exist, as for a node. */
export async function readPublisher(context: Context, publisherId: string): Promise<PublisherRecord> {
  const [item] = await get(context, publisherKey(publisherId));
  return publisherIn(item, publisherId);
}

export function publisherIn(item: Item | undefined, publisherId: string): PublisherRecord {
  const publisher = publisherRecord(item);
  if (!publisher) throw new Rejection(`There is no publisher "${publisherId}".`);
  if (publisher.moved_to !== undefined)
    throw new Rejection(`The publisher "${publisherId}" is "${publisher.moved_to}" now.`);
  if (publisher.id !== publisherId) throw new Rejection(`The publisher's id is "${publisher.id}".`);
  return publisher;
}

export async function readNode(context: Context, nodeId: string): Promise<NodeRecord> {
  const [item] = await get(context, nodeKey(nodeId));
  return nodeIn(item, nodeId);
}

export function nodeIn(item: Item | undefined, nodeId: string): NodeRecord {
  const node = nodeRecord(item);
  if (!node) throw new Rejection(`There is no node "${nodeId}".`);
  if (!isSameNodeId(node.id, nodeId))
    throw new Rejection(`There is no node "${nodeId}"; did you mean "${node.id}"?`);
  return node;
}

export function noSuchVersion(nodeId: string, version: string): Rejection {
  return new Rejection(`The node "${nodeId}" has no version "${version}".`);
}

/** A command of an administrator that can't be run, with a sentence about the reason. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
}

type Filter = Pick<
  ScanCommandInput,
  'FilterExpression' | 'ProjectionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

/** The items of the whole table with a sort key, or only some of their fields. */
export function scanFor(sk: string, filter: Filter = {}): AsyncGenerator<Item> {
  const ExpressionAttributeValues = { ':sk': { S: sk } };
  return scan({ FilterExpression: 'sk = :sk', ExpressionAttributeValues, ...filter });
}

/** The matching items of the whole table, for lookups without an index. The cost grows with the table. */
export async function* scan(filter: Filter): AsyncGenerator<Item> {
  let start: AttributeMap | undefined;
  do {
    const page = new ScanCommand({ TableName: tableName(), ...filter, ExclusiveStartKey: start });
    const { Items = [], LastEvaluatedKey } = await untilAnswered(newContext(), 'Scan', () =>
      dynamodb.send(page),
    );
    yield* Items.map(fromAttributes);
    start = LastEvaluatedKey;
  } while (start);
}

/** The ids of a publisher's nodes. */
export async function listOwnedNodes(publisherId: string): Promise<string[]> {
  const items = await listItems(ownedNodesOf(publisherId));
  return items.map((item) => ownedNodeRecord(item).node_id);
}
