import type { Changes, Item } from '../../../lib/store/items.ts';
import type { Context } from '../../../lib/context.ts';
import {
  type ExtractedArchive,
  finishExtraction,
  type FoundHostNodes,
  writeHostNodes,
} from '../../../lib/registry/extraction.ts';
import { unchangedSince } from '../../../lib/registry/host-nodes.ts';
import { laneOf } from '../../../lib/work/lanes.ts';
import {
  type HostNodeRecord,
  hostNodeRecord,
  type NodeVersionRecord,
  type Operator,
} from '../../../lib/registry/records.ts';
import { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import { hostNodeKey, keyOf, nodeKey } from '../../../lib/store/keys.ts';
import { decide } from '../../../lib/store/decide.ts';
import { deleting, updating } from '../../../lib/store/write.ts';
import { showNodeVersion } from '../listing.ts';
import { adminHistory, listItems, Rejection } from './administration.ts';

/** If an extraction no longer finds an entry, only its fields from a person stay. */
export async function removeOtherHostNodes(
  context: Context,
  { node_id, version }: ExtractedArchive,
  names: ReadonlySet<string>,
): Promise<string[]> {
  const removed: string[] = [];
  for (const item of await listItems(hostNodeKey(node_id, version, ''))) {
    const entry = hostNodeRecord(item);
    if (names.has(entry.host_node_name) || entry.extracted_by === undefined) continue;
    await removeExtracted(context, item);
    removed.push(entry.host_node_name);
  }
  return removed;
}

function removeExtracted(context: Context, entry: Item): Promise<void> {
  const key = keyOf(entry);
  return decide(context, { first: { item: key }, seen: { item: entry } }, ({ item }) => {
    const current = hostNodeRecord(item);
    if (current?.extracted_by === undefined) return { result: undefined };
    const unchanged = unchangedSince(current);
    const { touched } = current;
    const changes = { ...cleared(touched), extracted_by: null };
    const write =
      touched.length === 0
        ? deleting<HostNodeRecord>(key, unchanged)
        : updating<HostNodeRecord>(key, changes, unchanged);
    return { writes: [write], result: undefined };
  });
}

function cleared(touched: readonly string[]): Changes<HostNodeRecord> {
  const kept = [...touched, 'policy'];
  const extracted = Object.keys(HostNode.shape).filter((field) => !kept.includes(field));
  return Object.fromEntries(extracted.map((field) => [field, null]));
}

/** The most entries that a version can have take a minute. */
const writingMs = 120_000;

/** Reads a version's host nodes from its archive again, for a newer extractor or a lost event. */
export async function extractNodeVersion(
  actor: Operator,
  nodeId: string,
  version: string,
): Promise<{ record: NodeVersionRecord; found: FoundHostNodes; removed: string[] }> {
  // The bucket's module reads the environment when it is loaded, and few commands need the S3 client.
  const { extractor, readHostNodes } = await import('../../../lib/uploads/extract-archive.ts');
  const record = await showNodeVersion(nodeId, version);
  const { extraction } = record;
  const what = `Version ${record.version} of "${record.node_id}"`;
  if (record.archive_key === undefined || laneOf(record) === 'finalize')
    throw new Rejection(`${what} is not published yet.`);
  if (extraction && extraction.by > extractor)
    throw new Rejection(
      `${what} was read by extractor ${extraction.by}, and this is ${extractor}: update it.`,
    );
  const found = await readHostNodes(record);
  if (found === 'missing') throw new Rejection(`${what} has no archive in the bucket.`);
  if (found === 'interrupted') throw new Rejection(`Reading ${what} ran out of time or memory.`);
  const context = { deadline: Date.now() + writingMs };
  if (!(await writeHostNodes(context, record, found)))
    throw new Rejection(`${what} has more host nodes than could be written in time. Run this again.`);
  const removed = await removeOtherHostNodes(context, record, new Set(found.nodes.keys()));
  const change = {
    of: nodeKey(nodeId),
    action: 'node-version extract',
    subject: `${record.node_id} ${record.version}`,
    detail: `${found.status}: ${found.nodes.size} host nodes by extractor ${extractor}, ${removed.length} removed`,
  };
  if (!(await finishExtraction(context, record, found, { also: [adminHistory(actor, change)] })))
    throw new Rejection(`${what} was read by a newer extractor meanwhile.`);
  return { record: await showNodeVersion(nodeId, version), found, removed };
}
