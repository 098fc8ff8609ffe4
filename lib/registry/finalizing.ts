import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { dueShard, dueWork, notDue } from '../store/due.ts';
import type { Changes, Clause } from '../store/items.ts';
import { nodeKey, nodeVersionKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { untilWritten } from '../store/send.ts';
import { checking, transact, update, updating } from '../store/write.ts';
import type { Upload } from '../bucket/object-keys.ts';
import { latestOf, shownVersion } from './node-versions.ts';
import { forgetPending } from './publishing-limits.ts';
import { type NodeRecord, type NodeVersionRecord, nodeRecord, nodeVersionRecord } from './records.ts';
import { maxRefusals, type PendingReason, pending, readUpload } from './upload-state.ts';

/*
 * What happens to a version once it is registered. *Listed* means that it is in the index `pending`, the list of
 * what is left to do:
 *
 *   pending, listed ──activate──> active, listed ──complete──> active, listed for its extraction
 *     │  ▲ claim, then refuse                        latest_version moves, then the version leaves the
 *     └──┘ or release; or block                      finalizer's shards
 *
 * Each arrow is one function and one conditional write: the second of two that take it finds its condition failed,
 * changes nothing, and reads again what the upload is. A finalizer that dies between two arrows leaves a listed version,
 * which the next event or sweep takes further.
 *
 * Checking an archive takes up to minutes, and each use of a signed URL is an event. So one finalizer at a time checks for
 * an upload, and after some refusals its URL is used up.
 */

interface PublishedArchive {
  key: string;
  sizeBytes: number;
  sha256: string;
}

const unclaimed = { checked_by: null, checked_until: null };

/**
 * Keeps other finalizers from checking until this one's deadline. A finalizer is named by the id that Lambda gives an event
 * and all its retries. False if the version changed since it was read.
 */
export async function claim(
  context: Context,
  version: NodeVersionRecord,
  finalizer: string,
): Promise<boolean> {
  const changes = { checked_by: finalizer, checked_until: context.deadline };
  return (await update<NodeVersionRecord>(context, version, changes, [['revision', '=', version.revision]]))
    .written;
}

/** After a failure that another event may get past. If it fails, retries of the same event get through. */
export async function release(context: Context, upload: Upload, finalizer: string): Promise<void> {
  await change(context, upload, unclaimed, claimedBy(finalizer)).catch((error: unknown) =>
    log('warn', 'checks_kept', describeError(error)),
  );
}

/** The version stays pending, and its publisher can read why. */
export function block(context: Context, upload: Upload, reason: PendingReason): Promise<boolean> {
  return change(context, upload, { ...reason, ...unclaimed });
}

/** Because of these bytes, and releases the claim. The reason mentions it if the URL takes no more archives. */
export function refuse(
  context: Context,
  upload: Upload,
  { refused_objects = [] }: NodeVersionRecord,
  { id, versionId, problem }: { id: string; versionId: string; problem: string },
): Promise<boolean> {
  const refused = [...refused_objects, versionId];
  const usedUp = `An upload address accepts ${maxRefusals} archives. Publish again for a new one.`;
  const changes: Changes<NodeVersionRecord> = {
    status_reason_code: 'archive_refused',
    status_reason: refused.length < maxRefusals ? problem : `${problem} ${usedUp}`,
    refused_objects: refused,
    ...unclaimed,
  };
  return change(context, upload, changes, claimedBy(id));
}

function claimedBy(finalizer: string): Clause<NodeVersionRecord> {
  return ['checked_by', '=', finalizer];
}

/**
 * Node, publisher and credential are read right before the write, and no part of it: a transaction that checks them would
 * make all uploads of a publisher or of a token wait for each other. A ban is written before the versions that it bans,
 * each of which it takes out of `pending`, so an activation that has read the time before fails its condition or is
 * banned a moment later. A credential that is revoked, or a node that is withdrawn, in that moment is so after it.
 */
export async function activate(
  context: Context,
  upload: Upload,
  finalizer: string,
  archive: PublishedArchive,
): Promise<boolean> {
  const found = await readUpload(context, upload, finalizer);
  if (found.state !== 'awaited') return false;
  const changes: Changes<NodeVersionRecord> = {
    status: 'NodeVersionStatusActive',
    status_reason: null,
    status_reason_code: null,
    archive_key: archive.key,
    size_bytes: archive.sizeBytes,
    sha256: archive.sha256,
    upload_id: null,
    refused_objects: null,
    ...unclaimed,
    published_at: new Date().toISOString(),
  };
  return change(context, upload, changes);
}

/** Changes a version if it still waits for this upload. */
async function change(
  context: Context,
  upload: Upload,
  changes: Changes<NodeVersionRecord>,
  ...clauses: Clause<NodeVersionRecord>[]
): Promise<boolean> {
  const key = nodeVersionKey(upload.nodeId, upload.version);
  const { written } = await update<NodeVersionRecord>(context, key, changes, [
    ['id', '=', upload.versionId],
    ['status', '=', pending],
    ['upload_id', '=', upload.uploadId],
    ...clauses,
  ]);
  return written;
}

/** Finishes a version that is no longer pending: updates the node's latest_version, and hands it on to extraction. */
export async function complete(context: Context, nodeId: string, version: string): Promise<void> {
  const versionKey = nodeVersionKey(nodeId, version);
  await untilWritten(context, async () => {
    const [versionItem, nodeItem] = await get(context, versionKey, nodeKey(nodeId));
    const record = nodeVersionRecord(versionItem);
    const shard = record?.pending_shard;
    if (!record || !shard || dueWork(record) !== 'uploads' || record.status === pending) return true;
    const [isMoved] = await Promise.all([
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
  if (node?.status !== 'NodeStatusActive') return true;
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
      ['status', '=', 'NodeStatusActive'],
      seen,
    ]),
  ]).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'record_too_large') throw error;
    log('warn', 'latest_version_too_large', { node_id: version.node_id, version: version.version });
    return [];
  });
  return failed.length === 0;
}
