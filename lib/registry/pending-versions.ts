import type { Context } from '../context.ts';
import type { StatusReasonCode } from '../schemas/node-version.ts';
import { ApiError } from '../errors.ts';
import { allEnded } from '../in-parallel.ts';
import { log } from '../log.ts';
import { type DueKey, dueShard, dueWork, notDue } from '../store/due.ts';
import type { Clause } from '../store/items.ts';
import { nodeKey, nodeVersionKey } from '../store/keys.ts';
import { get, readAll } from '../store/read.ts';
import { untilWritten } from '../store/send.ts';
import { checking, transact, update, updating } from '../store/write.ts';
import type { Upload } from '../bucket/object-keys.ts';
import { latestOf, pending, shownVersion } from './node-versions.ts';
import { forgetPending } from './publishing-limits.ts';
import { type NodeRecord, type NodeVersionRecord, nodeRecord, nodeVersionRecord } from './records.ts';

/**
 * A version with work that is due: from its publish until its finalizer is done with it, and then until its host nodes
 * have been extracted. `awaits` is its upload, if it still waits for one.
 */
export interface ListedVersion {
  nodeId: string;
  version: string;
  versionId: string;
  reason: string;
  reasonCode: StatusReasonCode | undefined;
  since: string;
  awaits: Upload | undefined;
  archiveKey: string | undefined;
}

/** All that a sweep needs: a version can hold 120 KB, and a page of them would fill the function's memory. */
const listedFields = [
  'pk',
  'sk',
  'id',
  'node_id',
  'version',
  'status',
  'status_reason',
  'status_reason_code',
  'upload_id',
  'pending_since',
  'archive_key',
] as const satisfies (keyof NodeVersionRecord)[];

/** The versions under some keys of the index, newest first, without those whose work has ended meanwhile. */
export async function readListedVersions(
  context: Context,
  keys: readonly DueKey[],
): Promise<ListedVersion[]> {
  const versions = await readAll(context, keys, { fields: listedFields });
  const listed = versions
    .map((item) => nodeVersionRecord(item))
    .flatMap((version) => listedVersion(version) ?? []);
  return listed.sort((a, b) => b.since.localeCompare(a.since));
}

function listedVersion(record: NodeVersionRecord): ListedVersion | undefined {
  const { id, node_id: nodeId, version, status, status_reason, status_reason_code, upload_id } = record;
  const { pending_since: since } = record;
  if (since === undefined) return undefined;
  const awaits =
    status === pending && upload_id ? { nodeId, version, versionId: id, uploadId: upload_id } : undefined;
  return {
    nodeId,
    version,
    versionId: id,
    reason: status_reason ?? '',
    reasonCode: status_reason_code,
    since,
    awaits,
    archiveKey: record.archive_key,
  };
}

/** Finishes a version that is no longer pending: updates the node's latest_version and lists it for extraction. */
export async function complete(context: Context, nodeId: string, version: string): Promise<void> {
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
  const seen: Clause<NodeRecord> = latest
    ? [['latest_version', 'id'], '=', latest.id]
    : ['latest_version', 'absent'];
  const failed = await transact(context, [
    // The copy must not go back behind an extraction that ended meanwhile.
    checking<NodeVersionRecord>(version, [
      ['status', '=', version.status],
      ['host_node_extract_status', '=', version.host_node_extract_status],
    ]),
    updating<NodeRecord>(node, { latest_version: shownVersion(version) }, [
      ['status', '=', node.status],
      seen,
    ]),
  ]).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'record_too_large') throw error;
    log('warn', 'latest_version_too_large', { node_id: version.node_id, version: version.version });
    return [];
  });
  return failed.length === 0;
}
