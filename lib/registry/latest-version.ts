import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { allEnded } from '../in-parallel.ts';
import { log } from '../log.ts';
import { NodeVersion } from 'registry-rules/schemas/node-version';
import { compareVersions, isPreRelease } from 'registry-rules/version-label';
import { dueShard, dueWork, notDue } from '../store/due.ts';
import { type Changes, type Clause, onRevision } from '../store/items.ts';
import { nodeKey, nodeVersionKey } from '../store/keys.ts';
import { get, queryAll } from '../store/read.ts';
import { untilWritten } from '../store/retries.ts';
import { checking, transact, update, updating, type Write } from '../store/write.ts';
import { isDownloadable, pending } from './node-versions.ts';
import { requireNode } from './nodes.ts';
import { forgetPending } from './publishing-limits.ts';
import {
  type NodeRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
  type VersionCopy,
  pickFields,
} from './records.ts';

/** Finishes a version that is no longer pending: updates the node's latest_version and lists it for extraction. */
export async function finishPublishing(context: Context, nodeId: string, version: string): Promise<void> {
  const versionKey = nodeVersionKey(nodeId, version);
  await untilWritten(context, async () => {
    const [versionItem, nodeItem] = await get(context, versionKey, nodeKey(nodeId));
    const record = nodeVersionRecord(versionItem);
    const shard = record?.pending_shard;
    if (!record || !shard || dueWork(record) !== 'uploads' || record.status === pending) return true;
    const [isMoved] = await allEnded([
      moveLatest(context, record, nodeRecord(nodeItem)),
      forgetPending(context, { publisherId: record.publisher_id, nodeId, version }),
    ]);
    if (!isMoved) return undefined;
    const isDue = record.host_node_extract_status === 'pending';
    const listing = isDue
      ? { pending_shard: dueShard('host-nodes', shard), pending_since: new Date().toISOString() }
      : notDue;
    await update<NodeVersionRecord>(context, versionKey, listing, [
      ['id', '=', record.id],
      ['status', '=', record.status],
      ['pending_shard', '=', shard],
    ]);
    return true;
  });
}

/**
 * False if the latest version moved while this was decided, or this version or its node changed its status. Edits of
 * one moment that fit alone can leave a node without room for another latest version; it keeps the one that it has.
 */
async function moveLatest(
  context: Context,
  version: NodeVersionRecord,
  node: NodeRecord | undefined,
): Promise<boolean> {
  // A withdrawn node shows it when it is restored. When a ban is lifted, the latest version is chosen again.
  if (!node || node.status === 'NodeStatusBanned') return true;
  const latest = node.latest_version;
  if (latestOf(latest ? [latest, version] : [version]) !== version) return true;
  const seen: Clause<NodeRecord>[] = latest
    ? [
        [['latest_version', 'id'], '=', latest.id],
        latest.deprecated === undefined
          ? [['latest_version', 'deprecated'], 'absent']
          : [['latest_version', 'deprecated'], '=', latest.deprecated],
      ]
    : [['latest_version', 'absent']];
  const failed = await transact(context, [
    // The copy must not go back behind an extraction that ended meanwhile.
    checking<NodeVersionRecord>(version, [
      ['status', '=', version.status],
      ['host_node_extract_status', '=', version.host_node_extract_status],
      version.deprecated === undefined ? ['deprecated', 'absent'] : ['deprecated', '=', version.deprecated],
    ]),
    updating<NodeRecord>(node, { latest_version: versionCopy(version) }, [
      ['status', '=', node.status],
      ...seen,
    ]),
  ]).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'record_too_large') throw error;
    log('warn', 'latest_version_too_large', { node_id: version.node_id, version: version.version });
    return [];
  });
  return failed.length === 0;
}

/** The version that a node shows as its latest: of those that can be downloaded, the highest. */
export function latestOf<Version extends VersionCopy>(versions: readonly Version[]): Version | undefined {
  return versions.filter(isDownloadable).sort((a, b) => compareForLatest(b, a))[0];
}

/** Positive if `a` comes first: not deprecated, then stable before pre-release, then precedence, then time. */
function compareForLatest(a: VersionCopy, b: VersionCopy): number {
  return (
    Number(b.deprecated ?? false) - Number(a.deprecated ?? false) ||
    Number(isPreRelease(b.version)) - Number(isPreRelease(a.version)) ||
    compareVersions(a.version, b.version) ||
    (a.published_at ?? '').localeCompare(b.published_at ?? '')
  );
}

/** The copy that a node keeps of its latest version. */
export function versionCopy(version: NodeVersionRecord): VersionCopy {
  const { archive_key, published_at, id, status } = version;
  return {
    ...pickFields<NodeVersion>(version, NodeVersion),
    id,
    version: version.version,
    status,
    ...(archive_key !== undefined && { archive_key }),
    ...(published_at !== undefined && { published_at }),
  };
}

/* The rest chooses among all versions of a node, after a change that a finalizer's choice can't see. */

export async function readVersions(context: Context, nodeId: string): Promise<NodeVersionRecord[]> {
  return (await queryAll(context, nodeVersionKey(nodeId, ''))).map((item) => nodeVersionRecord(item));
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
