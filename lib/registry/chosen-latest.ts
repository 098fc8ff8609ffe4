import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { type Changes, onRevision } from '../store/items.ts';
import { nodeKey, nodeVersionKey } from '../store/keys.ts';
import { get, query } from '../store/read.ts';
import { untilWritten } from '../store/retries.ts';
import { transact, updating, type Write } from '../store/write.ts';
import { latestOf, versionCopy } from './latest-version.ts';
import { requireNode } from './nodes.ts';
import { type NodeRecord, type NodeVersionRecord, nodeVersionRecord } from './records.ts';

/* Chooses a node's latest version among all of its versions, after a change that a finalizer's choice can't see. */

export async function readVersions(context: Context, nodeId: string): Promise<NodeVersionRecord[]> {
  const { pk, sk } = nodeVersionKey(nodeId, '');
  const pages = await Array.fromAsync(
    query(context, { partition: ['pk', pk], sort: ['sk', 'begins with', sk] }),
  );
  return pages.flat().map((item) => nodeVersionRecord(item));
}

/** The part of a transaction that chooses among versions as they will be. It holds for the revision that was read. */
export function latestWrite(
  node: NodeRecord,
  versions: readonly NodeVersionRecord[],
  others: Changes<NodeRecord> = {},
): Write {
  const latest = latestOf(versions);
  const changes = { ...others, latest_version: latest ? versionCopy(latest) : null };
  return updating<NodeRecord>(node, changes, onRevision(node));
}

/**
 * Chooses again until nothing is left to change. An upload that finished during a change may have had nothing to write,
 * which the condition of that change can't see.
 */
export function refreshLatest(context: Context, nodeId: string): Promise<true> {
  return untilWritten(context, async () => {
    const [item] = await get(context, nodeKey(nodeId));
    const node = requireNode(item, nodeId);
    const versions = await readVersions(context, nodeId);
    const latest = latestOf(versions);
    if (isDeepStrictEqual(latest && versionCopy(latest), node.latest_version)) return true;
    await transact(context, [latestWrite(node, versions)]);
    return undefined;
  });
}
